// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/trace/words.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "connectx/cx_core.h"
#include "niclab/model/decode.h"
#include "niclab/model/tables.h"
#include "spec/init_segment.h"

namespace niclab::trace {
namespace {

using model::one_line;
using model::Piece;

constexpr std::array<std::string_view, 10> kKinds = {"command",   "doorbell", "wqe", "cqe",   "eqe",
                                                     "interrupt", "frame",    "dma", "state", "error"};

std::string_view or_number(std::string_view name) { return name.empty() ? "?" : name; }

std::string command(const Event &event) {
    std::vector<Piece> pieces =
        model::command_pieces(event.bytes, static_cast<u16>(event.a), /*output=*/false);
    std::erase_if(pieces, [](const Piece &piece) { return piece.layout == "CommandIn"; });
    std::string mode = event.b == 0 ? "" : fmt::format(" op_mod={:#x}", event.b);
    std::string fields = one_line(pieces, event.bytes);
    return fmt::format("{} [{}]{}{}{}", cx_core_command_name(static_cast<unsigned>(event.a)), event.c, mode,
                       fields.empty() ? "" : " ", fields);
}

std::string cause_of(u64 syndrome) {
    for (const model::SyndromeRow &row : model::syndromes())
        if (row.number == syndrome) return fmt::format(" ({}: {})", row.subject, row.cause);
    return {};
}

std::string command_done(const Event &event) {
    const char *name = cx_core_command_name(static_cast<unsigned>(event.a));
    if (event.b != 0)
        return fmt::format("{} refused: {} syndrome={:#x}{}", name,
                           or_number(model::name_of("Status", event.b)), event.c, cause_of(event.c));
    std::vector<Piece> pieces =
        model::command_pieces(event.bytes, static_cast<u16>(event.a), /*output=*/true);
    std::erase_if(pieces, [](const Piece &piece) { return piece.layout == "CommandOut"; });
    std::string fields = one_line(pieces, event.bytes);
    return fmt::format("{} done{}{}", name, fields.empty() ? "" : " ", fields);
}

/// What a register is for, and the layout of what is written to it.
struct Bell {
    std::string_view name, layout;
};
Bell bell_of(u64 offset) {
    if (offset == init_segment::kCmdDoorbell) return {"command", {}};
    constexpr u64 kFirstPage = 0x10;
    if (offset / uar::kBytes < kFirstPage) return {"register", {}};
    switch (offset % uar::kBytes) {
    case uar::kCqArm:
        return {"arm CQ", "CqArm"};
    case uar::kEqArm:
        return {"arm EQ", "EqDoorbell"};
    case uar::kEqUpdate:
        return {"update EQ", "EqDoorbell"};
    default:
        return {"send", {}};
    }
}

std::string doorbell(const Event &event) {
    Bell bell = bell_of(event.a);
    u8 bytes[8];
    store_be64(bytes, event.c == 4 ? event.b << 32 : event.b);
    std::string fields;
    if (!bell.layout.empty()) fields = one_line({{bell.layout, 0}}, bytes);
    if (bell.name == "send")
        fields = fmt::format("sq={:#x} wqe={}", event.b >> 8 & 0xffffff, event.b >> 40 & 0xffff);
    if (fields.empty()) fields = fmt::format("{:#x}", event.b);
    return fmt::format("{} at {:#x}: {}", bell.name, event.a, fields);
}

std::string state(const Event &event) {
    constexpr std::array kObjects = {"eq", "cq", "sq", "rq", "port", "card"};
    std::string_view name = event.a == CX_SQ || event.a == CX_RQ ? model::name_of("QueueState", event.c) : "";
    return fmt::format("{} {:#x} is {}", event.a < kObjects.size() ? kObjects[event.a] : "?", event.b,
                       name.empty() ? fmt::format("{}", event.c) : std::string(name));
}

std::string address(const u8 *at) {
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", at[0], at[1], at[2], at[3], at[4], at[5]);
}
std::string frame(const Event &event) {
    constexpr size_t kHeader = 14;
    if (event.bytes.size() < kHeader) return fmt::format("{} bytes", event.length);
    const u8 *bytes = event.bytes.data();
    return fmt::format("{} bytes {} > {} type {:#06x}", event.length, address(bytes + 6), address(bytes),
                       load_be16(bytes + 12));
}

std::string delivered(const Event &event) {
    if (event.b != 0) return fmt::format("{} bytes to rq {:#x}", event.a, event.b);
    return fmt::format("{} bytes dropped: {}", event.a,
                       event.c < cx_core_counter_count() ? cx_core_counter_name(event.c) : "?");
}

std::string dma(const Event &event) {
    return fmt::format("{} {} {} bytes at {:#x}", event.c & 1 ? "write" : "read",
                       cx_core_dma_purpose(static_cast<unsigned>(event.c >> 1)), event.b, event.a);
}

std::string text_of(const Event &event) { return {event.bytes.begin(), event.bytes.end()}; }

} // namespace

std::span<const std::string_view> kinds() { return kKinds; }

std::string_view kind_of(const Event &event) {
    switch (static_cast<cx_trace_event>(event.kind)) {
    case CX_TRACE_COMMAND:
    case CX_TRACE_COMMAND_DONE:
        return "command";
    case CX_TRACE_DOORBELL:
        return "doorbell";
    case CX_TRACE_STATE:
        return "state";
    case CX_TRACE_WQE:
        return "wqe";
    case CX_TRACE_COMPLETION:
        return "cqe";
    case CX_TRACE_EVENT:
        return "eqe";
    case CX_TRACE_INTERRUPT:
        return "interrupt";
    case CX_TRACE_FRAME_OUT:
    case CX_TRACE_FRAME_IN:
    case CX_TRACE_WIRE:
        return "frame";
    case CX_TRACE_DMA:
        return "dma";
    case CX_TRACE_DMA_FAULT:
    case CX_TRACE_GUEST_ERROR:
    case CX_TRACE_KINDS:
        break;
    }
    return "error";
}

std::string words_of(const Event &event) {
    switch (static_cast<cx_trace_event>(event.kind)) {
    case CX_TRACE_COMMAND:
        return command(event);
    case CX_TRACE_COMMAND_DONE:
        return command_done(event);
    case CX_TRACE_DOORBELL:
        return doorbell(event);
    case CX_TRACE_STATE:
        return state(event);
    case CX_TRACE_WQE:
        return fmt::format("sq {:#x} wqe {}: {}", event.a, event.b,
                           one_line(model::wqe_pieces(event.bytes), event.bytes));
    case CX_TRACE_COMPLETION:
        return fmt::format("cq {:#x}: {}", event.a, one_line(model::cqe_pieces(event.bytes), event.bytes));
    case CX_TRACE_EVENT:
        return fmt::format("eq {:#x}: {}", event.a, one_line(model::eqe_pieces(event.bytes), event.bytes));
    case CX_TRACE_INTERRUPT:
        return fmt::format("vector {} of eq {:#x}", event.a, event.b);
    case CX_TRACE_FRAME_OUT:
        return fmt::format("out of sq {:#x}: {}", event.b, frame(event));
    case CX_TRACE_WIRE:
        return "from the wire: " + frame(event);
    case CX_TRACE_FRAME_IN:
        return delivered(event);
    case CX_TRACE_DMA:
        return dma(event);
    case CX_TRACE_DMA_FAULT:
        return fmt::format("DMA {} of {} bytes at {:#x} faulted", event.c ? "write" : "read", event.b,
                           event.a);
    case CX_TRACE_GUEST_ERROR:
        return fmt::format("guest error: {}: {:#x}", text_of(event), event.a);
    case CX_TRACE_KINDS:
        break;
    }
    return fmt::format("event {}", event.kind);
}

} // namespace niclab::trace
