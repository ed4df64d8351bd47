// SPDX-License-Identifier: GPL-2.0-or-later
// A host for one card under test: guest memory behind a strict address map, a clock that only the test moves,
// and records of everything that left the card. CommandDriver speaks to the card as a driver does, through
// its queue and mailboxes.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "connectx/cx_core.h"
#include "spec/caps.h"
#include "spec/command.h"
#include "spec/hca.h"
#include "spec/init_segment.h"
#include "spec/registers.h"

namespace niclab::test {

constexpr u64 kPage = 4096;

// Guest memory as the card sees it: pages are mapped one by one, everything else faults.
class FakeMemory {
  public:
    void map(u64 iova, u64 bytes) {
        for (u64 page = iova / kPage; page <= (iova + bytes - 1) / kPage; ++page)
            pages_.try_emplace(page, kPage);
    }
    void unmap(u64 iova, u64 bytes) {
        for (u64 page = iova / kPage; page <= (iova + bytes - 1) / kPage; ++page)
            pages_.erase(page);
    }
    // Fresh mapped memory; behind each piece lies an unmapped page.
    u64 allocate(u64 bytes) {
        u64 iova = next_;
        map(iova, bytes);
        next_ += (bytes + kPage - 1) / kPage * kPage + kPage;
        return iova;
    }

    bool read(u64 iova, void *to, usize bytes) const {
        return run(iova, bytes, [&](const u8 *at, usize done, usize n) {
            std::memcpy(static_cast<u8 *>(to) + done, at, n);
        });
    }
    bool write(u64 iova, const void *from, usize bytes) {
        return run(iova, bytes, [&](u8 *at, usize done, usize n) {
            std::memcpy(at, static_cast<const u8 *>(from) + done, n);
        });
    }

    // The test's own accesses must hit mapped memory.
    std::vector<u8> bytes(u64 iova, usize count) const {
        std::vector<u8> out(count);
        if (!read(iova, out.data(), count)) throw std::out_of_range("the test reads unmapped memory");
        return out;
    }
    void put(u64 iova, std::span<const u8> from) {
        if (!write(iova, from.data(), from.size()))
            throw std::out_of_range("the test writes unmapped memory");
    }
    u32 be32(u64 iova) const { return load_be32(bytes(iova, 4).data()); }
    u64 be64(u64 iova) const { return load_be64(bytes(iova, 8).data()); }
    void put_be32(u64 iova, u32 value) {
        u8 raw[4];
        store_be32(raw, value);
        put(iova, raw);
    }
    void put_be64(u64 iova, u64 value) {
        u8 raw[8];
        store_be64(raw, value);
        put(iova, raw);
    }
    void fill(u64 iova, usize count, u8 value) { put(iova, std::vector<u8>(count, value)); }

  private:
    template <class F>
    bool run(u64 iova, usize bytes, F access) const {
        for (usize done = 0; done < bytes;) {
            u64 at = iova + done;
            auto page = pages_.find(at / kPage);
            if (page == pages_.end()) return false;
            usize n = std::min<usize>(bytes - done, kPage - at % kPage);
            access(const_cast<u8 *>(page->second.data()) + at % kPage, done, n);
            done += n;
        }
        return true;
    }

    std::map<u64, std::vector<u8>> pages_;
    u64 next_ = 0x1'0000'0000; // above 4 GiB, so that a lost upper half is noticed
};

inline cx_config default_config() {
    return {.mac = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56}, .queues = 8, .vectors = 16, .speed_mbps = 100000};
}

class FakeHost {
  public:
    struct Trace {
        cx_trace_event event;
        u64 a, b, c;
    };
    struct Access {
        u64 iova;
        usize bytes;
        bool write;
    };

    explicit FakeHost(cx_config config = default_config()) {
        char error[256] = "";
        core_ = cx_core_new(&kOps, this, &config, error, sizeof(error));
        if (!core_) throw std::invalid_argument(error);
        cx_core_set_tracing(core_, true);
    }
    ~FakeHost() { cx_core_free(core_); }
    FakeHost(const FakeHost &) = delete;

    cx_core *core() { return core_; }

    u32 read32(u64 offset) { return static_cast<u32>(cx_core_read(core_, offset, 4)); }
    void write32(u64 offset, u32 value) { cx_core_write(core_, offset, value, 4); }
    void write64(u64 offset, u64 value) { cx_core_write(core_, offset, value, 8); }
    // Moves the clock; wake-ups on the way come at their time.
    void advance(u64 ns) {
        u64 end = now_ns + ns;
        while (timer_at <= end) {
            now_ns = std::max(now_ns, std::exchange(timer_at, CX_TIMER_OFF));
            cx_core_timer(core_);
        }
        now_ns = end;
    }
    void frame_in(std::span<const u8> frame) { cx_core_frame_in(core_, frame.data(), frame.size()); }

    u64 counter(const std::string &name) const {
        for (usize i = 0; i < cx_core_counter_count(); ++i)
            if (name == cx_core_counter_name(i)) return cx_core_counter(core_, i);
        throw std::out_of_range("no counter " + name);
    }
    usize interrupts_on(unsigned vector) const {
        return std::count(interrupts.begin(), interrupts.end(), vector);
    }
    usize traced(cx_trace_event event) const {
        return std::count_if(traces.begin(), traces.end(), [&](const Trace &t) { return t.event == event; });
    }

    FakeMemory memory;
    u64 now_ns = 1'000'000'000;
    u64 timer_at = CX_TIMER_OFF; // the wake-up that the card asked for
    std::vector<unsigned> interrupts;
    std::vector<std::vector<u8>> frames;
    std::vector<std::string> guest_errors;
    std::vector<Trace> traces;
    std::vector<Access> accesses;
    std::function<void(std::span<const u8>)> on_frame; // after it is recorded
    std::function<void(const Access &)> on_access;     // before it is done
    std::function<void(unsigned)> on_interrupt;

  private:
    static FakeHost &self(void *host) { return *static_cast<FakeHost *>(host); }
    void note(u64 iova, usize bytes, bool write) {
        accesses.push_back({iova, bytes, write});
        if (on_access) on_access(accesses.back());
    }

    static constexpr cx_host_ops kOps = {
        .dma_read =
            [](void *host, uint64_t iova, void *dst, size_t len) {
                self(host).note(iova, len, false);
                return self(host).memory.read(iova, dst, len) ? 0 : -EFAULT;
            },
        .dma_write =
            [](void *host, uint64_t iova, const void *src, size_t len) {
                self(host).note(iova, len, true);
                return self(host).memory.write(iova, src, len) ? 0 : -EFAULT;
            },
        .interrupt =
            [](void *host, unsigned vector) {
                self(host).interrupts.push_back(vector);
                if (self(host).on_interrupt) self(host).on_interrupt(vector);
            },
        .frame_out =
            [](void *host, const void *frame, size_t len) {
                auto *bytes = static_cast<const u8 *>(frame);
                self(host).frames.emplace_back(bytes, bytes + len);
                if (self(host).on_frame) self(host).on_frame({bytes, len});
            },
        .now_ns = [](void *host) -> uint64_t { return self(host).now_ns; },
        .set_timer = [](void *host, uint64_t at_ns) { self(host).timer_at = at_ns; },
        .guest_error = [](void *host, const char *what,
                          uint64_t) { self(host).guest_errors.emplace_back(what); },
        .trace =
            [](void *host, cx_trace_event event, uint64_t a, uint64_t b, uint64_t c) {
                self(host).traces.push_back({event, a, b, c});
            },
    };

    cx_core *core_;
};

// The input of a command while it is put together.
class CommandInput {
  public:
    CommandInput(Opcode opcode, usize bytes, u16 op_mod = 0)
        : CommandInput(static_cast<u16>(opcode), bytes, op_mod) {}
    CommandInput(u16 opcode, usize bytes, u16 op_mod = 0) : raw(std::max<usize>(bytes, CommandIn::bytes)) {
        View<CommandIn>(raw.data()).set(CommandIn::opcode, opcode).set(CommandIn::op_mod, op_mod);
        raw.resize(bytes);
    }
    template <class Layout>
    CommandInput &set(Field<Layout> field, u32 value, usize at = 0) {
        View<Layout>(raw.data() + at).set(field, value);
        return *this;
    }
    template <class Layout>
    CommandInput &set(Field64<Layout> field, u64 value, usize at = 0) {
        View<Layout>(raw.data() + at).set(field, value);
        return *this;
    }
    CommandInput &put_be64(usize at, u64 value) {
        if (raw.size() < at + 8) raw.resize(at + 8);
        store_be64(raw.data() + at, value);
        return *this;
    }

    std::vector<u8> raw;
};

struct CommandResult {
    Delivery delivery;
    bool completed; // the entry came back to software
    std::vector<u8> out;

    Status status() const { return static_cast<Status>(out.at(0)); }
    u32 syndrome() const { return load_be32(out.data() + 4); }
    u32 number() const { return load_be32(out.data() + 8) & 0xffffff; }
    bool ok() const { return completed && delivery == Delivery::ok && status() == Status::ok; }
    template <class Layout>
    u32 get(Field<Layout> field, usize at = 0) const {
        return ConstView<Layout>(out.data() + at).get(field);
    }
};

// A driver's side of the command interface. Each call rings one entry and leaves its mailboxes mapped until
// the next one.
class CommandDriver {
  public:
    static constexpr unsigned kEntries = 32;

    explicit CommandDriver(FakeHost &host) : host_(host) { register_queue(); }

    // Tells the card where the queue is, as a driver that has just been loaded does.
    void register_queue() {
        queue = host_.memory.allocate(kPage);
        host_.write32(init_segment::kCmdqAddrHigh, static_cast<u32>(queue >> 32));
        host_.write32(init_segment::kCmdqAddrLow, static_cast<u32>(queue));
    }

    // Chain of `blocks` mailboxes with block numbers, links and `token`; the addresses.
    std::vector<u64> make_chain(usize blocks, u8 token) {
        std::vector<u64> chain;
        for (usize i = 0; i < blocks; ++i)
            chain.push_back(host_.memory.allocate(kMailboxStride));
        for (usize i = 0; i < blocks; ++i) {
            u8 raw[Mailbox::bytes] = {};
            View<Mailbox>(raw)
                .set(Mailbox::next, i + 1 < blocks ? chain[i + 1] : 0)
                .set(Mailbox::block_number, static_cast<u32>(i))
                .set(Mailbox::token, token);
            host_.memory.put(chain[i], raw);
        }
        return chain;
    }
    static usize blocks_for(usize bytes) {
        return bytes <= kCommandInlineBytes
                   ? 0
                   : (bytes - kCommandInlineBytes + kMailboxDataBytes - 1) / kMailboxDataBytes;
    }

    // Register PAOS: the port's administrative state, 1 up or 2 down.
    void set_port(PortState state) {
        constexpr usize kImage = AccessRegisterIn::image;
        must(CommandInput(Opcode::access_register, kImage + Paos::bytes)
                 .set(AccessRegisterIn::register_id, static_cast<u32>(RegisterId::paos))
                 .set(Paos::local_port, 1, kImage)
                 .set(Paos::admin_status, static_cast<u32>(state), kImage)
                 .set(Paos::ase, 1, kImage),
             kImage + Paos::bytes);
    }

    CommandResult run(const CommandInput &input, usize out_bytes = CommandOut::bytes, unsigned index = 0) {
        prepare(input.raw, out_bytes, index);
        ring(index);
        return collect(index);
    }

    // The three steps of run(), for tests that break something between them.
    void prepare(const std::vector<u8> &input, usize out_bytes, unsigned index) {
        u8 token = static_cast<u8>(1 + token_++ % 255);
        input_chain = make_chain(blocks_for(input.size()), token);
        output_chain = make_chain(blocks_for(out_bytes), token);
        out_bytes_ = out_bytes;
        u8 raw[CommandEntry::bytes] = {};
        View<CommandEntry>(raw)
            .set(CommandEntry::type, kCommandTransportPcie)
            .set(CommandEntry::input_length, static_cast<u32>(input.size()))
            .set(CommandEntry::input_mailbox, input_chain.empty() ? 0 : input_chain[0])
            .set(CommandEntry::output_mailbox, output_chain.empty() ? 0 : output_chain[0])
            .set(CommandEntry::output_length, static_cast<u32>(out_bytes))
            .set(CommandEntry::token, token)
            .set(CommandEntry::status_own, kCommandOwnerDevice);
        std::memcpy(raw + CommandEntry::input_inline, input.data(),
                    std::min<usize>(input.size(), kCommandInlineBytes));
        for (usize i = 0; i < input_chain.size(); ++i) {
            usize at = kCommandInlineBytes + i * kMailboxDataBytes;
            host_.memory.put(input_chain[i],
                             std::span(input).subspan(at, std::min(input.size() - at, kMailboxDataBytes)));
        }
        host_.memory.put(entry(index), raw);
    }
    void ring(unsigned index) { host_.write32(init_segment::kCmdDoorbell, 1u << index); }
    CommandResult collect(unsigned index) {
        std::vector<u8> raw = host_.memory.bytes(entry(index), CommandEntry::bytes);
        u8 status_own = raw[CommandEntry::status_own_byte];
        CommandResult result{
            static_cast<Delivery>(status_own >> 1), (status_own & kCommandOwnerDevice) == 0, {}};
        auto first = raw.begin() + CommandEntry::output_inline;
        result.out.assign(first, first + static_cast<long>(std::min<usize>(out_bytes_, kCommandInlineBytes)));
        for (usize i = 0; i < output_chain.size(); ++i) {
            usize left = out_bytes_ - kCommandInlineBytes - i * kMailboxDataBytes;
            std::vector<u8> data = host_.memory.bytes(output_chain[i], std::min(left, kMailboxDataBytes));
            result.out.insert(result.out.end(), data.begin(), data.end());
        }
        return result;
    }
    u64 entry(unsigned index) const { return queue + u64{index} * CommandEntry::bytes; }

    // ---- the sequences every driver goes through; each throws when a step fails ----
    CommandResult must(const CommandInput &input, usize out_bytes = CommandOut::bytes) {
        CommandResult result = run(input, out_bytes);
        if (!result.ok())
            throw std::runtime_error("command " + std::to_string(load_be16(input.raw.data())) + " failed");
        return result;
    }
    void enable() { must({Opcode::enable_hca, EnableHcaIn::bytes}); }
    u32 pages_wanted(QueryPages kind) {
        return must({Opcode::query_pages, 0x10, static_cast<u16>(kind)}).get(QueryPagesOut::num_pages);
    }
    std::vector<u64> give_pages(u32 count) {
        std::vector<u64> pages;
        CommandInput give(Opcode::manage_pages, ManagePagesIn::bytes, static_cast<u16>(ManagePages::give));
        give.set(ManagePagesIn::input_num_entries, count);
        for (u32 i = 0; i < count; ++i) {
            pages.push_back(host_.memory.allocate(kPage));
            give.put_be64(ManagePagesIn::pas + 8 * i, pages.back());
        }
        must(give);
        return pages;
    }
    // ENABLE_HCA to INIT_HCA; the pages given.
    std::vector<u64> bring_up() {
        enable();
        must(CommandInput(Opcode::set_issi, SetIssiIn::bytes).set(SetIssiIn::current_issi, 1));
        std::vector<u64> pages = give_pages(pages_wanted(QueryPages::boot));
        std::vector<u64> more = give_pages(pages_wanted(QueryPages::init));
        pages.insert(pages.end(), more.begin(), more.end());
        must({Opcode::init_hca, 0x10});
        return pages;
    }
    u32 alloc(Opcode opcode) { return must({opcode, 0x10}).number(); }

    u64 queue = 0;
    std::vector<u64> input_chain, output_chain; // of the newest command

  private:
    FakeHost &host_;
    usize out_bytes_ = 0;
    unsigned token_ = 0;
};

} // namespace niclab::test
