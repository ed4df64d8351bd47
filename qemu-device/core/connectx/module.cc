// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/module.h"

namespace niclab::connectx {
namespace {

using Page = std::array<u8, kModulePageBytes>;

consteval void put_text(Page &page, usize at, usize bytes, const char *text) {
    for (usize i = 0; i < bytes; ++i)
        page[at + i] = *text ? static_cast<u8>(*text++) : ' ';
}

consteval u8 sum(const Page &page, usize first, usize last) {
    unsigned total = 0;
    for (usize i = first; i <= last; ++i)
        total += page[i];
    return static_cast<u8>(total);
}

// Bytes by their numbers in SFF-8636.
consteval Page make_memory() {
    constexpr u8 kQsfp28 = 0x11;
    Page page{};
    page[0] = kQsfp28;
    page[1] = 0x08; // revision 2.8 or later
    page[2] = 0x06; // one page only, no interrupt, data ready
    page[128] = kQsfp28;
    page[130] = 0x23; // no separable connector
    page[131] = 0x88; // 40GBASE-CR4, and see byte 192
    page[139] = 0x05; // 64B/66B
    page[140] = 0xff; // faster than can be said here: see byte 222
    page[146] = 1;    // metres
    page[147] = 0xa0; // copper, not equalised
    put_text(page, 148, 16, "niclab");
    put_text(page, 168, 16, "NL-QSFP28-CR4-1M");
    put_text(page, 184, 2, "A");
    page[186] = 2; // attenuation in dB at 2.5, 5, 7 and 12.9 GHz
    page[187] = 3;
    page[188] = 4;
    page[189] = 6;
    page[191] = sum(page, 128, 190);
    page[192] = 0x0b; // 100GBASE-CR4, 25GBASE-CR with the longest reach
    put_text(page, 196, 16, "1");
    put_text(page, 212, 8, "260101");
    page[222] = 103; // 25.78 Gbit/s in units of 250 Mbit/s
    page[223] = sum(page, 192, 222);
    return page;
}
constexpr Page kMemory = make_memory();

} // namespace

const Page &module_memory() { return kMemory; }

} // namespace niclab::connectx
