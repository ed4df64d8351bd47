// SPDX-License-Identifier: GPL-2.0-or-later
// A queue's ring in guest memory, given as a list of equally large pages.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "connectx/dma.h"
#include "spec/layout.h"

namespace niclab::connectx {

class QueueMemory {
  public:
    QueueMemory() = default;

    // `pas` holds big-endian 64-bit page addresses of 2^log_page bytes; the ring starts `offset` bytes into
    // the first page and is `bytes` long. Fails when the list is too short, too large for a sane ring (64
    // MiB) or an address is not page-aligned.
    static std::optional<QueueMemory> make(std::span<const u8> pas, unsigned log_page, usize offset,
                                           usize bytes) {
        if (log_page < 12 || log_page > 31 || bytes == 0 || bytes > kMaxBytes ||
            offset >= usize{1} << log_page)
            return {};
        usize pages = (offset + bytes + (usize{1} << log_page) - 1) >> log_page;
        if (pas.size() / 8 < pages) return {};
        QueueMemory memory;
        memory.log_page_ = log_page;
        memory.offset_ = offset;
        memory.bytes_ = bytes;
        memory.pages_.reserve(pages);
        for (usize i = 0; i < pages; ++i) {
            u64 address = load_be64(pas.data() + 8 * i);
            if (address & 0xfff) return {}; // rings may come as 4 KiB aligned fragments of larger pages
            memory.pages_.push_back(address);
        }
        return memory;
    }

    usize bytes() const { return bytes_; }

    // Accesses may cross pages and must stay inside the ring.
    [[nodiscard]] bool read(Dma &dma, DmaPurpose purpose, usize at, void *dst, usize len) const {
        return each_run(at, len, [&](u64 iova, usize done, usize run) {
            return dma.read(purpose, iova, static_cast<u8 *>(dst) + done, run);
        });
    }
    [[nodiscard]] bool write(Dma &dma, DmaPurpose purpose, usize at, const void *src, usize len) const {
        return each_run(at, len, [&](u64 iova, usize done, usize run) {
            return dma.write(purpose, iova, static_cast<const u8 *>(src) + done, run);
        });
    }
    // An entry that does not cross a page, as entries of a power of two never do.
    [[nodiscard]] bool write_entry(Dma &dma, DmaPurpose purpose, usize at, const void *src, usize len) const {
        return dma.write_entry(purpose, address(at), src, len);
    }

  private:
    static constexpr usize kMaxBytes = 64u << 20;

    u64 address(usize at) const {
        usize position = offset_ + at;
        return pages_[position >> log_page_] + (position & ((usize{1} << log_page_) - 1));
    }

    template <class F>
    bool each_run(usize at, usize len, F access) const {
        for (usize done = 0; done < len;) {
            usize position = offset_ + at + done;
            usize inside = position & ((usize{1} << log_page_) - 1);
            usize run = std::min(len - done, (usize{1} << log_page_) - inside);
            if (!access(pages_[position >> log_page_] + inside, done, run)) return false;
            done += run;
        }
        return true;
    }

    unsigned log_page_ = 12;
    usize offset_ = 0, bytes_ = 0;
    std::vector<u64> pages_;
};

} // namespace niclab::connectx
