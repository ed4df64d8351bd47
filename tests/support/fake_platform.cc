// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/fake_platform.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using niclab::u32, niclab::u64, niclab::u8, niclab::usize;
using niclab::test::ledger;

namespace niclab::test {

namespace {
constexpr usize kPage = 4096;
std::unique_ptr<Ledger> current = std::make_unique<Ledger>();
} // namespace

Ledger &ledger() { return *current; }
void reset_ledger() { current = std::make_unique<Ledger>(); }

bool Ledger::fail_this_step() {
    if (++steps != fail_at) return false;
    failed = true;
    return true;
}

std::string Ledger::leftovers() const {
    std::string text;
    auto count = [&](usize n, const char *what) {
        if (n) text += std::to_string(n) + " " + what + " left; ";
    };
    count(blocks.size(), "blocks");
    count(pages.size(), "pages");
    count(mutexes.size(), "mutexes");
    count(events.size(), "events");
    for (const plat *device : devices)
        count(device->mappings.size(), "mappings");
    for (const std::string &violation : violations)
        text += violation + "; ";
    return text;
}

bool Ledger::logged(const std::string &part) const {
    return std::any_of(log.begin(), log.end(),
                       [&](const std::string &line) { return line.find(part) != line.npos; });
}

} // namespace niclab::test

// ---- A device and its IOMMU
// ------------------------------------------------------------------------------------------------

plat::plat() { ledger().devices.insert(this); }
plat::~plat() { ledger().devices.erase(this); }

u64 plat::take_bus(usize bytes) {
    u64 size = niclab::test::kPage;
    while (size < bytes)
        size *= 2;
    u64 bus = (next_bus + size - 1) / size * size; // aligned to its size, as the kernel's coherent memory is
    next_bus = bus + size + niclab::test::kPage;   // and an unmapped page behind
    return bus;
}

plat::Mapping *plat::find(u64 bus, usize bytes, bool write) {
    auto after = mappings.upper_bound(bus);
    if (after != mappings.begin()) {
        auto &[start, mapping] = *std::prev(after);
        bool inside = bus - start < mapping.bytes && bytes <= mapping.bytes - (bus - start);
        bool allowed = mapping.direction == PLAT_BOTH || (mapping.direction == PLAT_FROM_DEVICE) == write;
        if (inside && allowed && !dma_stopped) return &mapping;
    }
    ++faults;
    if (!tolerate_faults && !dma_stopped) {
        char text[96];
        snprintf(text, sizeof(text), "the card may not %s %zu bytes at 0x%llx", write ? "write" : "read",
                 bytes, bus);
        ledger().violations.push_back(text);
    }
    return nullptr;
}

bool plat::card_read(u64 bus, void *to, usize bytes) {
    Mapping *mapping = find(bus, bytes, false);
    if (!mapping) return false;
    usize at = bus - std::prev(mappings.upper_bound(bus))->first;
    std::memcpy(to, (mapping->coherent ? mapping->cpu : mapping->bounce.data()) + at, bytes);
    return true;
}

bool plat::card_write(u64 bus, const void *from, usize bytes) {
    Mapping *mapping = find(bus, bytes, true);
    if (!mapping) return false;
    usize at = bus - std::prev(mappings.upper_bound(bus))->first;
    std::memcpy((mapping->coherent ? mapping->cpu : mapping->bounce.data()) + at, from, bytes);
    return true;
}

// ---- The seam
// --------------------------------------------------------------------------------------------------------------

namespace {

void violation(const char *what) { ledger().violations.push_back(what); }

void copy_for_cpu(plat::Mapping &mapping) {
    if (mapping.direction != PLAT_TO_DEVICE) std::memcpy(mapping.cpu, mapping.bounce.data(), mapping.bytes);
}
void copy_for_device(plat::Mapping &mapping) {
    if (mapping.direction != PLAT_FROM_DEVICE) std::memcpy(mapping.bounce.data(), mapping.cpu, mapping.bytes);
}

} // namespace

extern "C" {

void *plat_alloc(unsigned long bytes) {
    if (ledger().fail_this_step()) return nullptr;
    void *memory = std::calloc(1, bytes);
    ledger().blocks[memory] = bytes;
    ++ledger().allocations;
    return memory;
}
void plat_free(void *memory) {
    if (!memory) return;
    if (!ledger().blocks.erase(memory)) violation("freed a block that was not allocated");
    std::free(memory);
}

int plat_dma_alloc(plat *device, unsigned long bytes, plat_dma *out) {
    if (ledger().fail_this_step()) return -ENOMEM;
    ++ledger().allocations;
    u8 *cpu = static_cast<u8 *>(std::aligned_alloc(niclab::test::kPage, (bytes + 4095) / 4096 * 4096));
    std::memset(cpu, 0, bytes);
    u64 bus = device->take_bus(bytes);
    device->mappings[bus] = {bytes, PLAT_BOTH, true, cpu, {}};
    *out = {cpu, bus, bytes};
    return 0;
}
void plat_dma_free(plat *device, plat_dma *memory) {
    auto found = device->mappings.find(memory->bus);
    if (found == device->mappings.end() || !found->second.coherent || found->second.cpu != memory->cpu)
        return violation("freed coherent memory that was not allocated");
    device->mappings.erase(found);
    std::free(memory->cpu);
}

plat_page *plat_page_alloc(plat *, unsigned order, int) {
    if (ledger().fail_this_step()) return nullptr;
    ++ledger().allocations;
    auto *page = new plat_page{std::vector<u8>(niclab::test::kPage << order, 0xee), 1};
    ledger().pages.insert(page);
    return page;
}
void plat_page_ref(plat_page *page) { ++page->references; }
void plat_page_unref(plat_page *page) {
    if (!ledger().pages.contains(page)) return violation("dropped a reference to a page that is gone");
    if (--page->references > 0) return;
    ledger().pages.erase(page);
    delete page;
}
void *plat_page_address(plat_page *page) { return page->memory.data(); }

int plat_map(plat *device, plat_page *page, unsigned offset, unsigned bytes, plat_direction direction,
             unsigned long long *bus) {
    if (ledger().fail_this_step()) return -ENOMEM;
    if (!ledger().pages.contains(page) || bytes == 0 || offset + u64{bytes} > page->memory.size()) {
        violation("mapped something outside a page");
        return -EINVAL;
    }
    u64 address = device->take_bus(bytes + offset % niclab::test::kPage) + offset % niclab::test::kPage;
    plat::Mapping mapping{bytes, direction, false, page->memory.data() + offset,
                          std::vector<u8>(bytes, 0xbb)};
    copy_for_device(mapping);
    device->mappings[address] = std::move(mapping);
    ++device->maps;
    *bus = address;
    return 0;
}
void plat_unmap(plat *device, unsigned long long bus, unsigned bytes, plat_direction direction) {
    auto found = device->mappings.find(bus);
    if (found == device->mappings.end() || found->second.coherent || found->second.bytes != bytes ||
        found->second.direction != direction)
        return violation("unmapped what was not mapped so");
    copy_for_cpu(found->second);
    device->mappings.erase(found);
    ++device->unmaps;
}
void plat_sync_for_cpu(plat *device, unsigned long long bus, unsigned bytes, plat_direction direction) {
    if (plat::Mapping *mapping = device->find(bus, bytes, direction == PLAT_FROM_DEVICE))
        copy_for_cpu(*mapping);
}
void plat_sync_for_device(plat *device, unsigned long long bus, unsigned bytes, plat_direction direction) {
    if (plat::Mapping *mapping = device->find(bus, bytes, direction == PLAT_FROM_DEVICE))
        copy_for_device(*mapping);
}

unsigned plat_bar_bytes(plat *device) { return device->bar_bytes(); }
unsigned plat_read32(plat *device, unsigned offset) { return device->read32(offset); }
void plat_write32(plat *device, unsigned offset, unsigned value) { device->write32(offset, value); }
void plat_ring(plat *device, unsigned offset, const void *bytes) {
    u64 value = 0;
    for (unsigned i = 0; i < 8; ++i)
        value = value << 8 | static_cast<const u8 *>(bytes)[i];
    device->ring(offset, value);
}

void plat_stop_dma(plat *device) { device->dma_stopped = true; }
void plat_quiesce_interrupts(plat *device) { device->late_interrupts(); }

// One thread runs driver and card: program order is all the order there is.
void plat_publish(void) {}
void plat_acquire(void) {}
void plat_before_ring(void) {}

unsigned long long plat_now_ms(plat *) { return ledger().now_ms; }
void plat_sleep_ms(unsigned ms) {
    ledger().now_ms += ms;
    for (plat *device : ledger().devices)
        device->run();
}

plat_mutex *plat_mutex_new(void) {
    if (ledger().fail_this_step()) return nullptr;
    return *ledger().mutexes.insert(new plat_mutex).first;
}
void plat_mutex_free(plat_mutex *mutex) {
    if (mutex->locked) violation("freed a locked mutex");
    ledger().mutexes.erase(mutex);
    delete mutex;
}
void plat_mutex_lock(plat_mutex *mutex) {
    if (mutex->locked) violation("locked a mutex twice");
    mutex->locked = true;
}
void plat_mutex_unlock(plat_mutex *mutex) {
    if (!mutex->locked) violation("unlocked a mutex that is not locked");
    mutex->locked = false;
}

plat_event *plat_event_new(void) {
    if (ledger().fail_this_step()) return nullptr;
    return *ledger().events.insert(new plat_event).first;
}
void plat_event_free(plat_event *event) {
    ledger().events.erase(event);
    delete event;
}
void plat_event_signal(plat_event *event) { ++event->count; }
int plat_event_wait(plat_event *event, unsigned ms) {
    for (plat *device : ledger().devices)
        device->run();
    if (event->count == 0) {
        ledger().now_ms += ms;
        return -ETIMEDOUT;
    }
    --event->count;
    return 0;
}

void plat_log(plat *, plat_level level, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    ledger().log.push_back(text);
    if (getenv("NICLAB_TEST_LOG")) fprintf(stderr, "[%d] %s\n", level, text);
}

} // extern "C"
