// SPDX-License-Identifier: GPL-2.0-or-later
#include "connectx/pause.h"

#include <algorithm>

#include "connectx/device.h"

namespace niclab::connectx {
namespace {

constexpr usize kTypeAt = 12, kOpcodeAt = 14, kQuantaAt = 16, kControlBytes = 18;
constexpr u16 kMacControl = 0x8808, kPauseOpcode = 1;
constexpr u64 kQuantumBits = 512;

} // namespace

Pause::Pause(Device &device) : device_(device), timer_(device.timers, resume) {}

void Pause::reset() {
    timer_.stop();
    receives_ = sends_ = true;
    paused_ = false;
    held_.clear();
    counts_ = {};
}

void Pause::set(bool receive, bool send) {
    receives_ = receive;
    sends_ = send;
    if (!receive && paused_) timer_.start(device_.now_ns(), 0); // silence ends with the right to ask for it
}

bool Pause::take(std::span<const u8> frame) {
    if (frame.size() < kControlBytes || load_be16(frame.data() + kTypeAt) != kMacControl) return false;
    ++counts_.control;
    if (load_be16(frame.data() + kOpcodeAt) != kPauseOpcode) {
        ++counts_.unsupported;
        return true;
    }
    ++counts_.pause;
    u64 bits = load_be16(frame.data() + kQuantaAt) * kQuantumBits;
    if (receives_) begin(bits * 1000 / device_.port.link.mbps());
    return true;
}

// A further pause frame replaces what was left of the last one; zero ends it.
void Pause::begin(u64 ns) {
    u64 now = device_.now_ns();
    ++counts_.obeyed;
    if (!paused_ && ns == 0) return;
    if (paused_)
        counts_.paused_ns += now - since_ns_;
    else
        ++counts_.transitions;
    paused_ = true;
    since_ns_ = now;
    timer_.start(now + ns, 0);
}

bool Pause::hold(u32 sqn) {
    const Sq *sq = device_.sqs.find(sqn);
    if (!paused_ || !sq || sq->tisn == 0) return false;
    if (std::find(held_.begin(), held_.end(), sqn) == held_.end()) held_.push_back(sqn);
    return true;
}

void Pause::resume(Device &device, u32) { device.port.pause.end(); }

void Pause::end() {
    counts_.paused_ns += device_.now_ns() - since_ns_;
    paused_ = false;
    std::vector<u32> waiting;
    waiting.swap(held_);
    for (u32 sqn : waiting) {
        // It may have been stopped or have gone since; then nobody rings it.
        const Sq *sq = device_.sqs.find(sqn);
        if (sq && sq->state != QueueState::reset) sq_doorbell(device_, sqn);
    }
}

} // namespace niclab::connectx
