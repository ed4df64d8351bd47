// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/board.h"

#include <algorithm>

#include "connectx/device.h"

namespace niclab::connectx {
namespace {

constexpr u64 kSecondNs = 1'000'000'000;

} // namespace

void Board::reset() {
    blink(0);
    tracks_ = warned_ = false;
    highest_ = temperature_;
}

void Board::blink(u32 seconds) {
    blink_seconds_ = seconds;
    blink_until_ns_ = seconds == kForever ? ~u64{0} : device_.now_ns() + seconds * kSecondNs;
}

bool Board::blinks() const { return blink_seconds_ != 0 && device_.now_ns() < blink_until_ns_; }

u32 Board::blink_left() const {
    if (!blinks()) return 0;
    if (blink_seconds_ == kForever) return kForever;
    return static_cast<u32>((blink_until_ns_ - device_.now_ns() + kSecondNs - 1) / kSecondNs);
}

void Board::set_temperature(Temperature now) {
    temperature_ = now;
    if (tracks_) highest_ = std::max(highest_, now);
    if (now < kLimitBelow) warned_ = false;
    if (now < kLimit || warned_) return;
    warned_ = true;
    u8 data[16] = {};
    constexpr usize kLowSensors = 8; // bit n of the word here: sensor n
    store_be64(data + kLowSensors, 1);
    post_async(device_, Event::temperature, 0, data);
}

} // namespace niclab::connectx
