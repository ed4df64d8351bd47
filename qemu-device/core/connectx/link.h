// SPDX-License-Identifier: GPL-2.0-or-later
// Speed and error correction of the link: what the port and its copper cable of four lanes can do, what
// software asked for, and what the link came up with. The other end can do and accepts whatever this end
// wants.
#pragma once

#include <optional>

#include "spec/types.h"

namespace niclab::connectx {

// Kinds of forward error correction, as bits of PPLM.
enum Fec : u8 { fec_none = 1, fec_firecode = 2, fec_reed_solomon = 4 };
// PPLM keeps a policy for each class of speeds.
enum class FecClass : u8 { g10_40, g25, g50, g100, count };

class Link {
  public:
    explicit Link(unsigned most_mbps);
    void reset(); // power-on: everything negotiated

    // The two languages of PTYS for modes: the old bits and the extended ones.
    enum class Bits : u8 { legacy, extended };
    u32 capability(Bits bits) const { return spell(able_, bits); }
    // What software asked for, in the language it used; 0 in the other one.
    u32 admin(Bits bits) const { return bits == admin_bits_ ? spell(admin_, bits) : 0; }
    bool autonegotiates() const { return autonegotiates_; }
    // False, and nothing changes, when a mode is not one of the port's. Takes effect when the link next comes
    // up.
    bool ask(u32 modes, Bits bits, bool autonegotiate);

    u8 fec_able(FecClass speeds) const;
    u8 fec_admin(FecClass speeds) const { return fec_admin_[static_cast<usize>(speeds)]; } // 0: automatic
    bool fec_allowed(FecClass speeds, u8 policy) const { return (policy & ~fec_able(speeds)) == 0; }
    void ask_fec(FecClass speeds, u8 policy) { fec_admin_[static_cast<usize>(speeds)] = policy; }

    // The link comes up: the fastest mode asked for, and the strongest correction that is allowed with it.
    void come_up();
    u32 oper(Bits bits) const { return spell(1u << oper_, bits); }
    unsigned mbps() const;
    u8 fec_oper() const { return fec_oper_; }

  private:
    static u32 spell(u32 modes, Bits bits);

    u32 able_; // one bit for each row of the table of modes
    u32 admin_ = 0;
    Bits admin_bits_ = Bits::extended;
    bool autonegotiates_ = true;
    unsigned oper_ = 0;
    u8 fec_admin_[static_cast<usize>(FecClass::count)] = {};
    u8 fec_oper_ = fec_none;
};

} // namespace niclab::connectx
