// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/model/decode.h"

#include <algorithm>

#include <fmt/format.h>

#include "niclab/model/fields.h"
#include "niclab/model/tables.h"
#include "spec/queues.h"
#include "spec/wqe.h"

namespace niclab::model {
namespace {

constexpr usize rounded(usize bytes) { return (bytes + kDsBytes - 1) / kDsBytes * kDsBytes; }

/// Data segments from `at` on: pointers have one unit, inline data as many as it fills.
void add_data(std::vector<Piece> &pieces, Bytes bytes, usize at) {
    while (at + DataSegment::bytes <= bytes.size()) {
        pieces.push_back({"DataSegment", at});
        ConstView<DataSegment> segment(bytes.data() + at);
        at += segment.get(DataSegment::inline_data)
                  ? rounded(DataSegment::kInlineStart + segment.get(DataSegment::inline_byte_count))
                  : DataSegment::bytes;
    }
}

void add_frame(std::vector<Piece> &pieces, Bytes bytes) {
    constexpr usize kEth = CtrlSegment::bytes;
    if (bytes.size() < kEth + EthSegment::bytes) return;
    pieces.push_back({"EthSegment", kEth});
    ConstView<EthSegment> eth(bytes.data() + kEth);
    usize header = eth.get(EthSegment::insert_vlan) ? 0 : eth.get(EthSegment::inline_hdr_sz);
    add_data(pieces, bytes, kEth + rounded(EthSegment::inline_hdr_start + std::max<usize>(header, 2)));
}

void add_umr(std::vector<Piece> &pieces, Bytes bytes) {
    constexpr usize kUmr = CtrlSegment::bytes, kKey = kUmr + UmrSegment::bytes;
    pieces.push_back({"UmrSegment", kUmr});
    pieces.push_back({"MkeyContext", kKey});
    if (bytes.size() < kKey) return;
    bool list = ConstView<UmrSegment>(bytes.data() + kUmr).get(UmrSegment::inline_list);
    for (usize at = kKey + 0x40; at < bytes.size(); at += kDsBytes)
        pieces.push_back({list ? "KlmEntry" : "DataSegment", at});
}

std::string shown(const Value &value) {
    if (!value.meaning.empty()) return std::string(value.meaning);
    return value.value < 10 ? fmt::format("{}", value.value) : fmt::format("{:#x}", value.value);
}

} // namespace

bool holds(Bytes bytes, const Piece &piece) {
    const LayoutRow *layout = find_layout(piece.layout);
    return layout && piece.at <= bytes.size() && layout->bytes <= bytes.size() - piece.at;
}

std::vector<Piece> wqe_pieces(Bytes bytes) {
    std::vector<Piece> pieces = {{"CtrlSegment", 0}};
    if (bytes.size() < CtrlSegment::bytes) return {};
    switch (static_cast<WqeOpcode>(ConstView<CtrlSegment>(bytes.data()).get(CtrlSegment::opcode))) {
    case WqeOpcode::send:
    case WqeOpcode::lso:
    case WqeOpcode::multi_packet_send:
        add_frame(pieces, bytes);
        break;
    case WqeOpcode::umr:
        add_umr(pieces, bytes);
        break;
    default:
        break;
    }
    std::erase_if(pieces, [&](const Piece &piece) { return !holds(bytes, piece); });
    return pieces;
}

std::vector<Piece> cqe_pieces(Bytes bytes) {
    if (bytes.size() < Cqe::bytes) return {};
    auto opcode = static_cast<CqeOpcode>(ConstView<Cqe>(bytes.data()).get(Cqe::opcode));
    bool error = opcode == CqeOpcode::requester_error || opcode == CqeOpcode::responder_error;
    return {{error ? "ErrorCqe" : "Cqe", 0}};
}

std::vector<Piece> eqe_pieces(Bytes bytes) {
    if (bytes.size() < Eqe::bytes) return {};
    return {{"Eqe", 0}};
}

std::vector<Value> values_of(std::string_view layout, Bytes bytes, bool zeros) {
    std::vector<Value> values;
    if (!holds(bytes, {layout, 0})) return values;
    for (const FieldRow &field : fields()) {
        if (field.layout != layout || !applies(field, bytes)) continue;
        u64 value = field.get(bytes);
        if (value == 0 && !zeros && !says_something_at_zero(field)) continue;
        values.push_back({field.name, value, name_of(type_of(field), value)});
    }
    return values;
}

std::string one_line(const std::vector<Piece> &pieces, Bytes bytes) {
    std::string line;
    for (const Piece &piece : pieces)
        if (piece.at < bytes.size())
            for (const Value &value : values_of(piece.layout, bytes.subspan(piece.at)))
                line += fmt::format("{}{}={}", line.empty() ? "" : " ", value.field, shown(value));
    return line;
}

std::string many_lines(const std::vector<Piece> &pieces, Bytes bytes) {
    std::string text;
    for (const Piece &piece : pieces) {
        if (!holds(bytes, piece)) continue;
        text += fmt::format("{} at {:#x}\n", piece.layout, piece.at);
        for (const Value &value : values_of(piece.layout, bytes.subspan(piece.at), /*zeros=*/true))
            text += fmt::format("  {:<34}{:#x}{}{}\n", value.field, value.value,
                                value.meaning.empty() ? "" : "  ", value.meaning);
    }
    return text;
}

} // namespace niclab::model
