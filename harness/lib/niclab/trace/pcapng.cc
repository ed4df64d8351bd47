// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/trace/pcapng.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "connectx/cx_core.h"
#include "niclab/trace/words.h"

namespace niclab::trace {
namespace {

// Block and option codes of the format (draft-ietf-opsawg-pcapng).
constexpr u32 kSection = 0x0a0d0d0a, kByteOrder = 0x1a2b3c4d, kInterface = 1, kPacket = 6;
constexpr u16 kComment = 1, kInterfaceName = 2, kInterfaceResolution = 9, kPacketFlags = 2;
constexpr u16 kEthernet = 1;
constexpr u32 kInbound = 1, kOutbound = 2;
constexpr u8 kNanoseconds = 9; // ten to the minus nine
constexpr size_t kLongestComment = 4096;

/// A block while it is put together, in this machine's byte order, as its section header says.
class Block {
  public:
    explicit Block(u32 type) { put(type).put(u32{0}); }
    template <class T>
    Block &put(T value) {
        const char *raw = reinterpret_cast<const char *>(&value);
        bytes_.append(raw, sizeof value);
        return *this;
    }
    Block &put_padded(const void *from, size_t count) {
        bytes_.append(static_cast<const char *>(from), count);
        bytes_.append((4 - count % 4) % 4, '\0');
        return *this;
    }
    Block &option(u16 code, const void *from, size_t count) {
        return put(code).put(static_cast<u16>(count)).put_padded(from, count);
    }
    /// The length stands at both ends.
    std::string finish() {
        u32 length = static_cast<u32>(bytes_.size() + 4);
        std::memcpy(bytes_.data() + 4, &length, sizeof length);
        put(length);
        return std::move(bytes_);
    }

  private:
    std::string bytes_;
};

std::string section() {
    return Block(kSection).put(kByteOrder).put(u16{1}).put(u16{0}).put(~u64{0}).finish();
}

std::string interface(const std::string &name) {
    return Block(kInterface)
        .put(kEthernet)
        .put(u16{0})
        .put(u32{0}) // no limit of length
        .option(kInterfaceName, name.data(), name.size())
        .option(kInterfaceResolution, &kNanoseconds, 1)
        .put(u32{0})
        .finish();
}

struct Packet {
    const Event *event;
    std::string comment;

    bool outbound() const { return event->kind == CX_TRACE_FRAME_OUT; }
    void add(const std::string &line) {
        if (comment.size() + line.size() < kLongestComment) comment += (comment.empty() ? "" : "\n") + line;
    }
};

std::string packet(const Packet &packet, u64 unix_ns) {
    const Event &event = *packet.event;
    u32 flags = packet.outbound() ? kOutbound : kInbound;
    Block block(kPacket);
    block.put(static_cast<u32>(event.port))
        .put(static_cast<u32>(unix_ns >> 32))
        .put(static_cast<u32>(unix_ns))
        .put(static_cast<u32>(event.bytes.size()))
        .put(event.length)
        .put_padded(event.bytes.data(), event.bytes.size());
    if (!packet.comment.empty()) block.option(kComment, packet.comment.data(), packet.comment.size());
    return block.option(kPacketFlags, &flags, sizeof flags).put(u32{0}).finish();
}

/// A frame out belongs to the WQE before it, a frame in to where it went and the completion behind it.
std::vector<Packet> packets_of(const std::vector<Event> &events) {
    struct Port {
        const Event *wqe = nullptr;
        std::optional<size_t> arrived;
    };
    std::vector<Packet> packets;
    std::map<size_t, Port> ports;
    for (const Event &event : events) {
        Port &port = ports[event.port];
        if (event.kind == CX_TRACE_WQE) {
            port = {&event, {}};
        } else if (event.kind == CX_TRACE_FRAME_OUT) {
            packets.push_back({&event, port.wqe ? words_of(*port.wqe) : ""});
        } else if (event.kind == CX_TRACE_WIRE) {
            port.arrived = packets.size();
            packets.push_back({&event, {}});
        } else if (port.arrived && (event.kind == CX_TRACE_COMPLETION || event.kind == CX_TRACE_FRAME_IN)) {
            packets[*port.arrived].add(words_of(event));
        }
    }
    return packets;
}

} // namespace

Result<size_t> write_pcapng(const std::string &path, const std::vector<RecordFile> &files,
                            const std::vector<Event> &events) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    if (!out) return Error{fmt::format("cannot write '{}': {}", path, std::strerror(errno))};
    out << section();
    for (const RecordFile &file : files)
        out << interface(file.port());
    std::vector<Packet> packets = packets_of(events);
    for (const Packet &each : packets)
        out << packet(each, files[each.event->port].unix_ns(each.event->guest_ns));
    out.close();
    if (!out) return Error{fmt::format("'{}' could not be written whole", path)};
    return packets.size();
}

} // namespace niclab::trace
