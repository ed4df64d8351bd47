// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/fake_host.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace niclab::test {

void FakeMemory::map(u64 iova, u64 bytes) {
    for (u64 page = iova / kPage; page <= (iova + bytes - 1) / kPage; ++page)
        pages_.try_emplace(page, kPage);
}

void FakeMemory::unmap(u64 iova, u64 bytes) {
    for (u64 page = iova / kPage; page <= (iova + bytes - 1) / kPage; ++page)
        pages_.erase(page);
}

u64 FakeMemory::allocate(u64 bytes) {
    u64 iova = next_;
    map(iova, bytes);
    next_ += (bytes + kPage - 1) / kPage * kPage + kPage;
    return iova;
}

template <class F>
bool FakeMemory::run(u64 iova, usize bytes, F access) const {
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

bool FakeMemory::read(u64 iova, void *to, usize bytes) const {
    return run(iova, bytes,
               [&](const u8 *at, usize done, usize n) { std::memcpy(static_cast<u8 *>(to) + done, at, n); });
}

bool FakeMemory::write(u64 iova, const void *from, usize bytes) {
    return run(iova, bytes, [&](u8 *at, usize done, usize n) {
        std::memcpy(at, static_cast<const u8 *>(from) + done, n);
    });
}

std::vector<u8> FakeMemory::bytes(u64 iova, usize count) const {
    std::vector<u8> out(count);
    if (!read(iova, out.data(), count)) throw std::out_of_range("the test reads unmapped memory");
    return out;
}

void FakeMemory::put(u64 iova, std::span<const u8> from) {
    if (!write(iova, from.data(), from.size())) throw std::out_of_range("the test writes unmapped memory");
}

void FakeMemory::put_be32(u64 iova, u32 value) {
    u8 raw[4];
    store_be32(raw, value);
    put(iova, raw);
}

void FakeMemory::put_be64(u64 iova, u64 value) {
    u8 raw[8];
    store_be64(raw, value);
    put(iova, raw);
}

constexpr cx_host_ops FakeHost::kOps = {
    .dma_read =
        [](void *host, uint64_t iova, void *dst, size_t len) {
            self(host).note(iova, len, false);
            return self(host).memory.read(iova, dst, len) ? 0 : -EFAULT;
        },
    .dma_write = [](void *host, uint64_t iova, const void *src,
                    size_t len) { return self(host).write_memory(iova, src, len); },
    // The body, then the word that makes it visible: what a guest may see between the two is tested.
    .dma_write_entry =
        [](void *host, uint64_t iova, const void *src, size_t len) {
            auto *bytes = static_cast<const u8 *>(src);
            int body = self(host).write_memory(iova, bytes, len - 4);
            return body ? body : self(host).write_memory(iova + len - 4, bytes + len - 4, 4);
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
    .guest_error = [](void *host, const char *what, uint64_t) { self(host).guest_errors.emplace_back(what); },
    .trace =
        [](void *host, cx_trace_event event, uint64_t a, uint64_t b, uint64_t c, const void *bytes,
           size_t len) {
            auto *from = static_cast<const u8 *>(bytes);
            self(host).traces.push_back({event, a, b, c, {from, from + len}});
        },
};

FakeHost::FakeHost(cx_config config) {
    char error[256] = "";
    core_ = cx_core_new(&kOps, this, &config, error, sizeof(error));
    if (!core_) throw std::invalid_argument(error);
    cx_core_set_tracing(core_, true);
}

FakeHost::~FakeHost() { cx_core_free(core_); }

void FakeHost::advance(u64 ns) {
    u64 end = now_ns + ns;
    while (timer_at <= end) {
        now_ns = std::max(now_ns, std::exchange(timer_at, CX_TIMER_OFF));
        cx_core_timer(core_);
    }
    now_ns = end;
}

u64 FakeHost::counter(const std::string &name) const {
    for (usize i = 0; i < cx_core_counter_count(); ++i)
        if (name == cx_core_counter_name(i)) return cx_core_counter(core_, i);
    throw std::out_of_range("no counter " + name);
}

usize FakeHost::interrupts_on(unsigned vector) const {
    return std::count(interrupts.begin(), interrupts.end(), vector);
}

usize FakeHost::traced(cx_trace_event event) const {
    return std::count_if(traces.begin(), traces.end(), [&](const Trace &t) { return t.event == event; });
}

void FakeHost::note(u64 iova, usize bytes, bool write) {
    accesses.push_back({iova, bytes, write});
    if (on_access) on_access(accesses.back());
}

int FakeHost::write_memory(u64 iova, const void *from, usize bytes) {
    note(iova, bytes, true);
    return memory.write(iova, from, bytes) ? 0 : -EFAULT;
}

} // namespace niclab::test
