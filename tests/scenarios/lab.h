// SPDX-License-Identifier: GPL-2.0-or-later
// One VM with two joined ports per test program. The scenarios share it; each leaves it as it found it.
#pragma once

#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "niclab/guest.h"
#include "scenarios/frame.h"

namespace niclab::scenarios {

using namespace std::chrono_literals;

/// How a driver calls its `ethtool -S` counters; patterns for fmt.
struct StatisticNames {
    std::string queue_packets; ///< received by one queue: its number
    std::string
        vport; ///< "rx" or "tx", then "unicast", "multicast" or "broadcast", then "packets" or "bytes"
    std::string port_packets; ///< "rx" or "tx"
    std::string out_of_buffer;
};

/// What a program tests: a driver on a kernel. Each program defines its own.
struct Subject {
    std::string driver;
    std::string kernel;
    std::string module;
    StatisticNames names;
    std::string card = "connectx"; ///< QEMU device model
};
const Subject &subject();

/// Gives the value, or ends the test with the sentence that says why there is none.
template <class T>
T need(Result<T> result, std::source_location where = std::source_location::current()) {
    if (!result.ok())
        throw std::runtime_error(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " +
                                 result.why());
    return result.take();
}

/// Undoes a change when the scope ends, also when the test failed in between.
class Afterwards {
  public:
    explicit Afterwards(std::function<Status()> undo) : undo_(std::move(undo)) {}
    Afterwards(const Afterwards &) = delete;
    Afterwards &operator=(const Afterwards &) = delete;
    ~Afterwards() {
        if (Status done = undo_(); !done.ok()) ADD_FAILURE() << "cleaning up: " << done.why();
    }

  private:
    std::function<Status()> undo_;
};

class Lab {
  public:
    /// The machine with both ports connected; booted on first use, and again after it died.
    static Result<Lab *> get();
    /// Ends the machine.
    static void end();

    explicit Lab(Vm vm) : vm_(std::move(vm)), guest_(vm_) {}

    Vm &vm() { return vm_; }
    Guest &guest() { return guest_; }

    /// Settings, addresses and interfaces of both ports as text. Equal texts mean that nothing was left
    /// changed.
    Result<std::string> state();
    /// The state that connect() left.
    const std::string &first_state() const { return first_state_; }
    /// Binds both ports anew, so that one failed scenario does not fail the next.
    Status repair();
    Status connect();

  private:
    Vm vm_;
    Guest guest_;
    std::string first_state_;
};

inline constexpr std::array kBothSides = {Side::a, Side::b};

class Scenario : public ::testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;

    Guest &guest() { return lab_->guest(); }
    Vm &vm() { return lab_->vm(); }
    Lab &lab() { return *lab_; }
    const std::string &interface(Side side) { return guest().interface(side); }
    /// The address the interface has now.
    Mac mac(Side side) { return mac_from(address_text(side)); }
    std::string address_text(Side side);

    /// Runs a shell script in the namespace of `side`; "$IF" is the interface. Must succeed; gives its
    /// output.
    std::string run(Side side, const std::string &script, Milliseconds limit = 60s,
                    std::source_location where = std::source_location::current());
    Status try_run(Side side, const std::string &script, Milliseconds limit = 60s);

    /// Pings `address` from `from`, once for each size. Empty, or a line for each size that went wrong.
    std::string ping_sizes(Side from, const std::vector<unsigned> &sizes, const std::string &address,
                           const std::string &options = {});
    /// Both ways, IPv4 and IPv6, a few packets.
    void expect_ping();
    void expect_transfer(Side from, TransferOptions options = {.bytes = 4 << 20});

    /// Sends `frames` from `from` and checks that exactly `arriving` of them reach the other side's kernel,
    /// in this order and with these bytes. A broadcast behind them ends the wait, so absence is seen, not
    /// timed.
    void expect_arrivals(Side from, const std::vector<Bytes> &frames, const std::vector<Bytes> &arriving,
                         std::source_location where = std::source_location::current());
    /// The frames of `source` that `side` sees, while `send` sends and until `count` came.
    std::vector<CapturedFrame> capture(Side side, const std::string &filter, unsigned count,
                                       const std::function<void()> &send);

    /// Sends `count` UDP packets to side b, all of one flow or of flows whose ports differ in many bits, and
    /// gives what each of its queues got.
    std::vector<std::uint64_t> spread(Family family, unsigned count, bool one_flow);

    std::uint64_t statistic(Side side, const std::string &name);
    /// A number of the kernel's /proc/net/snmp, e.g. "Udp", "InCsumErrors".
    std::uint64_t snmp(Side side, const std::string &group, const std::string &name);
    std::uint64_t card_counter(Side side, const std::string &name);

    /// Until the end of the scope no kernel sends anything by itself: no addresses, no neighbour discovery.
    [[nodiscard]] std::unique_ptr<Afterwards> quiet();

    /// Switches offloads (`ethtool -K` words) on one side until the end of the scope.
    [[nodiscard]] std::unique_ptr<Afterwards> with_features(Side side, const std::vector<std::string> &words);

  private:
    void wait_until_quiet();
    std::vector<std::uint64_t> packets_by_queue();

    Lab *lab_ = nullptr;
    unsigned serial_ = 0;
};

/// Traffic both ways for as long as it lives; flows when the constructor returns. `from` must not go down.
class BackgroundTraffic {
  public:
    BackgroundTraffic(Guest &guest, Side from);
    ~BackgroundTraffic();
    BackgroundTraffic(const BackgroundTraffic &) = delete;
    BackgroundTraffic &operator=(const BackgroundTraffic &) = delete;
    /// Ends it and says how many packets came back.
    Result<unsigned> stop();

  private:
    std::uint64_t answers();

    Guest &guest_;
    Side from_;
    int handle_ = 0;
    bool running_ = false;
};

/// The frame that a capture saw, tag included.
Bytes whole(const CapturedFrame &frame);

} // namespace niclab::scenarios
