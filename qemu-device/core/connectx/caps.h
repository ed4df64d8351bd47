// SPDX-License-Identifier: GPL-2.0-or-later
// Capability images: what QUERY_HCA_CAP answers and SET_HCA_CAP may change. The rows in caps.cc are the whole
// truth.
#pragma once

#include <array>
#include <span>

#include "spec/caps.h"
#include "spec/queues.h"

namespace niclab::connectx {

class Caps {
  public:
    Caps() { reset(); }
    void reset(); // current values of power-on
    // The card is one that wants headers inline; such a card has no multi-packet send.
    void require_inline(InlineMode mode);
    // Queues may ask for time stamps of the real-time clock.
    void offer_real_time();

    static bool known(u16 type);
    // Fills the start of a capability image; types that are known and not offered read as zeros.
    void query(u16 type, bool maximum, std::span<u8> image) const;
    // New current values: each field at most its maximum, everything else stays zero. False when the type has
    // nothing to set.
    bool set(u16 type, std::span<const u8> image);

    u32 get(Field<GeneralCaps> f) const { return ConstView<GeneralCaps>(general_.data()).get(f); }
    u32 get(Field<EthernetCaps> f) const { return ConstView<EthernetCaps>(ethernet_.data()).get(f); }
    u32 get(Field<FlowTableCaps> f) const {
        return ConstView<FlowTableCaps>(nic_rx_.data()).get(f);
    } // NIC receive

  private:
    std::array<u8, GeneralCaps::bytes> general_;
    std::array<u8, EthernetCaps::bytes> ethernet_;
    std::array<u8, FlowTableCaps::bytes> nic_rx_;
};

} // namespace niclab::connectx
