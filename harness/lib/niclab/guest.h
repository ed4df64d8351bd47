// SPDX-License-Identifier: GPL-2.0-or-later
// Two ports of one guest, each in a network namespace of its own, so that what passes between them crosses
// the wire.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "niclab/vm.h"

namespace niclab {

enum class Side {
    a, ///< card 0, namespace "a", 10.77.0.1, fd77::1
    b, ///< card 1, namespace "b", 10.77.0.2, fd77::2
};

constexpr Side other(Side side) { return side == Side::a ? Side::b : Side::a; }

struct PingResult {
    unsigned sent = 0;
    unsigned received = 0;
    bool all() const { return sent != 0 && sent == received; }
};

struct TransferResult {
    std::uint64_t bytes = 0;
    double mbit_per_second = 0;
    bool hash_match = false;
    std::string why; ///< what differed, when hash_match is false
};

struct TransferOptions {
    std::uint64_t bytes = 64ull << 20;
    std::uint64_t seed = 1;
    bool ipv6 = false;
    std::string address; ///< where the receiver is reached; empty: the receiver's own standard address
    std::uint16_t port = 5201;
    Milliseconds limit = std::chrono::seconds(120);
};

/// A frame as `wire capture` saw it.
struct CapturedFrame {
    std::string hex; ///< without the tag, when `vlan_tci` is set
    std::size_t length = 0;
    std::uint64_t count = 1;          ///< how many frames with these very bytes and status came
    std::optional<unsigned> vlan_tci; ///< set when the card stripped a tag
    std::optional<unsigned> vlan_tpid;
    std::string checksum; ///< "none", "partial" or "valid"
    std::string type;     ///< "host", "broadcast", "multicast", "otherhost", "outgoing"
};

struct SendOptions {
    unsigned count = 1;
    unsigned gap_us = 0;
    /// Byte offset of 32 bits that are to differ from frame to frame.
    std::optional<unsigned> vary_offset;
    /// Ask the card for a checksum: where summing starts and where, from there, the sum goes.
    std::optional<std::pair<unsigned, unsigned>> checksum;
    /// Ask the card for segmentation: "tcp4" or "tcp6", payload per segment, length of all headers.
    std::optional<std::string> gso;
    unsigned gso_size = 0;
    unsigned header_length = 0;
};

class Guest {
  public:
    explicit Guest(Vm &vm) : vm_(vm) {}

    /// Makes the namespaces; call once after boot.
    Status prepare();

    /// Binds the card of `side` to "mlx5_core", "niclab" or another driver through driver_override, waits for
    /// its network interface and moves it into the namespace. A card bound to another driver is unbound
    /// first.
    Status bind_driver(Side side, const std::string &driver);
    Status unbind_driver(Side side);
    /// Inserts niclab.ko with parameters, e.g. "rx_map=fragment"; done by bind_driver without any when not
    /// loaded.
    Status load_niclab(const std::string &parameters = {});
    /// Loads a driver when it is not there; bind_driver does so by itself.
    Status load_module(const std::string &driver);
    Status unload(const std::string &module);
    /// The driver the card of `side` is bound to now, or an empty string.
    Result<std::string> driver_of(Side side);

    /// Name of the interface of `side`, e.g. "eth0"; empty before bind_driver.
    const std::string &interface(Side side) const { return port(side).interface; }
    /// PCI address, e.g. "0000:01:00.0".
    Result<std::string> pci_address(Side side);
    static std::string address(Side side, bool ipv6 = false);

    /// Sets the standard addresses and brings the interface up.
    Status set_up(Side side);
    Status set_down(Side side);
    Status wait_link(Side side, Milliseconds limit = std::chrono::seconds(20));
    Status set_mtu(Side side, unsigned mtu);
    /// bind_driver, set_up and wait_link for both sides.
    Status connect(const std::string &driver);

    /// Runs a program inside the namespace of `side`.
    Result<CommandResult> run(Side side, std::vector<std::string> argv, Milliseconds limit);
    Result<CommandResult> script(Side side, const std::string &text, Milliseconds limit);
    Result<int> start(Side side, std::vector<std::string> argv);
    /// `ip -j <arguments>` in the namespace.
    Result<nlohmann::json> ip(Side side, std::vector<std::string> arguments);

    /// `payload` bytes of ICMP payload; fragments are forbidden when `dont_fragment`.
    Result<PingResult> ping(Side from, unsigned count, unsigned payload = 56, bool dont_fragment = false);
    Result<PingResult> ping6(Side from, unsigned count, unsigned payload = 56);
    /// Sends from `from` to the other side over TCP and checks every byte.
    Result<TransferResult> transfer(Side from, const TransferOptions &options = {});

    Result<Counters> ethtool_statistics(Side side);
    /// `ethtool -k`: offload name to "on" / "off" (the "[fixed]" mark is dropped).
    Result<std::map<std::string, bool>> offloads(Side side);
    /// `ethtool <arguments>`; a failure carries ethtool's own message.
    Status ethtool(Side side, const std::vector<std::string> &arguments);
    /// `ip -j -s link`: stats64 of the interface.
    Result<nlohmann::json> link_statistics(Side side);

    /// Raw frames. Capture starts before start_capture returns; finish_capture gives what came.
    Status send_frame(Side from, const std::string &hex, const SendOptions &options = {});
    /// Stops after `count` frames or `for_how_long`. `filter`: "", "ethertype=0x88b5", "dst=..", "src=..",
    /// "outgoing".
    Result<int> start_capture(Side at, const std::string &filter, unsigned count, Milliseconds for_how_long);
    Result<std::vector<CapturedFrame>> finish_capture(int handle);

    /// From here on expect_clean() looks only at what comes later.
    Status mark();
    /// Fails, naming what, if the kernel complained, a DMA fault was logged or a card counted an error since
    /// mark().
    Status expect_clean();

    Vm &vm() { return vm_; }

  private:
    struct Port {
        std::string pci;
        std::string interface;
    };
    Port &port(Side side) { return ports_[side == Side::a ? 0 : 1]; }
    const Port &port(Side side) const { return ports_[side == Side::a ? 0 : 1]; }
    Status adopt_interface(Side side);
    Result<Counters> error_counters(size_t card);

    Vm &vm_;
    std::array<Port, 2> ports_;
    std::map<int, Milliseconds> capture_limits_;
    size_t console_mark_ = 0;
    std::array<Counters, 2> counters_mark_;
};

} // namespace niclab
