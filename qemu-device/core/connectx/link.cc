// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/link.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace niclab::connectx {
namespace {

struct Mode {
    unsigned mbps;
    u8 legacy_bit, extended_bit;
    FecClass fec;
};
// Slowest first. 1 Gbit/s has no error correction and shares the class of the slow ones.
constexpr Mode kModes[] = {
    {1000, 1, 1, FecClass::g10_40},   // 1000BASE-KX
    {10000, 12, 4, FecClass::g10_40}, // 10GBASE-CR
    {25000, 27, 6, FecClass::g25},    // 25GBASE-CR
    {40000, 6, 5, FecClass::g10_40},  // 40GBASE-CR4
    {50000, 30, 7, FecClass::g50},    // 50GBASE-CR2
    {100000, 20, 9, FecClass::g100},  // 100GBASE-CR4
};

struct FecKinds {
    u8 able, automatic;
};
constexpr FecKinds kFec[] = {
    {fec_none | fec_firecode, fec_none},
    {fec_none | fec_firecode | fec_reed_solomon, fec_reed_solomon},
    {fec_none | fec_firecode | fec_reed_solomon, fec_reed_solomon},
    {fec_none | fec_reed_solomon, fec_reed_solomon},
};
static_assert(std::size(kFec) == static_cast<usize>(FecClass::count));

u32 bit_of(const Mode &mode, Link::Bits bits) {
    return 1u << (bits == Link::Bits::legacy ? mode.legacy_bit : mode.extended_bit);
}

} // namespace

Link::Link(unsigned most_mbps) : able_(0) {
    for (usize i = 0; i < std::size(kModes); ++i)
        if (kModes[i].mbps <= most_mbps) able_ |= 1u << i;
    reset();
}

void Link::reset() {
    admin_ = able_;
    admin_bits_ = Bits::extended;
    autonegotiates_ = true;
    std::fill(std::begin(fec_admin_), std::end(fec_admin_), u8{0});
    come_up();
}

u32 Link::spell(u32 modes, Bits bits) {
    u32 spelled = 0;
    for (usize i = 0; i < std::size(kModes); ++i)
        if (modes >> i & 1) spelled |= bit_of(kModes[i], bits);
    return spelled;
}

bool Link::ask(u32 modes, Bits bits, bool autonegotiate) {
    if (modes == 0 || modes & ~capability(bits)) return false;
    admin_ = 0;
    for (usize i = 0; i < std::size(kModes); ++i)
        if (modes & bit_of(kModes[i], bits)) admin_ |= able_ & 1u << i;
    admin_bits_ = bits;
    autonegotiates_ = autonegotiate;
    return true;
}

u8 Link::fec_able(FecClass speeds) const {
    for (usize i = 0; i < std::size(kModes); ++i)
        if (able_ >> i & 1 && kModes[i].fec == speeds && kModes[i].mbps != 1000)
            return kFec[static_cast<usize>(speeds)].able;
    return 0;
}

void Link::come_up() {
    oper_ = static_cast<unsigned>(std::bit_width(admin_)) - 1;
    const Mode &mode = kModes[oper_];
    u8 policy = fec_admin(mode.fec);
    if (mode.mbps == 1000)
        fec_oper_ = fec_none;
    else
        fec_oper_ =
            policy ? static_cast<u8>(std::bit_floor(policy)) : kFec[static_cast<usize>(mode.fec)].automatic;
}

unsigned Link::mbps() const { return kModes[oper_].mbps; }

} // namespace niclab::connectx
