// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/port.h"

#include <algorithm>
#include <cstring>

#include "connectx/device.h"
#include "connectx/packet.h"

namespace niclab::connectx {
namespace {

constexpr usize kSizeLimits[] = {64, 127, 255, 511, 1023, 1518, 2047, 4095, 8191};
static_assert(std::size(kSizeLimits) + 1 == Port::kSizeBins);
constexpr usize kMacBytes = 6, kEtherTypeAt = 12, kTagAt = 14;

unsigned priority(std::span<const u8> frame) {
    if (frame.size() < kTagAt + 2) return 0;
    u16 type = load_be16(frame.data() + kEtherTypeAt);
    return type == kEthertypeCvlan || type == kEthertypeSvlan ? frame[kTagAt] >> 5 : 0;
}

} // namespace

Port::Port(Device &device) : link(device.config.speed_mbps), pause(device), device_(device) {}

void Port::reset() {
    admin_up_ = false;
    link.reset();
    pause.reset();
    mtu_ = kDefaultMtu;
    checks_fcs = true;
    tx_ = rx_ = {};
    std::fill(std::begin(rx_errors_), std::end(rx_errors_), 0);
    link_downs_ = 0;
    tx_discards_before_ = device_.counters.get(Counter::tx_drop_port_down);
    tx_errors_before_ = device_.counters.get(Counter::tx_drop_oversize);
    std::memset(ppcnt_base, 0, sizeof(ppcnt_base));
}

void Port::set_admin(bool up_now) {
    bool was_up = up();
    admin_up_ = up_now;
    announce(was_up);
}

void Port::set_cable(bool plugged) {
    bool was_up = up();
    cable_ = plugged;
    announce(was_up);
}

void Port::set_module(bool plugged) {
    if (plugged == module_) return;
    bool was_up = up();
    module_ = plugged;
    tell_module();
    announce(was_up);
}

void Port::tell_module() const {
    u8 data[8] = {};
    constexpr usize kStatusByte = 3; // module 0 in the byte before
    data[kStatusByte] = static_cast<u8>(module_ ? ModuleEvent::plugged : ModuleEvent::unplugged);
    post_async(device_, Event::port_module, 0, data);
}

u64 Port::tx_discards() const {
    return device_.counters.get(Counter::tx_drop_port_down) - tx_discards_before_;
}
u64 Port::tx_errors() const { return device_.counters.get(Counter::tx_drop_oversize) - tx_errors_before_; }

void Port::announce(bool was_up) {
    if (was_up == up()) return;
    if (was_up)
        ++link_downs_;
    else
        link.come_up();
    device_.trace(CX_TRACE_STATE, CX_PORT, 1, up());
    u8 data[16] = {};
    constexpr usize kPortByte = 8; // 0x28 of the entry: port number in the high nibble
    data[kPortByte] = 1 << 4;
    PortEvent event = up() ? PortEvent::active : PortEvent::down;
    post_async(device_, Event::port_change, static_cast<u8>(event), data);
}

bool Port::set_mtu(u32 mtu) {
    if (mtu < kMinMtu || mtu > kMaxMtu) return false;
    mtu_ = mtu;
    return true;
}

void Port::count(Direction &direction, std::span<const u8> frame) {
    if (frame.size() < kMacBytes) return;
    usize octets = frame.size() + kFcsBytes;
    direction.frames += 1;
    direction.octets += octets;
    if (frame[0] & 1) ++(is_broadcast(frame) ? direction.broadcast : direction.multicast);
    usize bin = 0;
    while (bin < std::size(kSizeLimits) && octets > kSizeLimits[bin])
        ++bin;
    direction.by_size[bin] += 1;
    unsigned prio = priority(frame);
    direction.prio_frames[prio] += 1;
    direction.prio_octets[prio] += octets;
}

} // namespace niclab::connectx
