// SPDX-License-Identifier: GPL-2.0-or-later
// The network card as the glue sees it: everything above, put together. nic.cc gives it its C face.
#pragma once

#include "core/channel.h"
#include "core/hca.h"
#include "core/nic.h"
#include "core/steering.h"

namespace niclab::driver {

class Nic {
  public:
    Nic() = default;
    Nic(const Nic &) = delete;
    Nic &operator=(const Nic &) = delete;

    Result<void> start(plat *, unsigned vectors, const nic_events &);
    // Before the end: the event queues go, while interrupts still come.
    void stop();
    void quiesce_interrupts() { plat_quiesce_interrupts(platform_); }
    void describe(nic_info &) const;
    Result<nic_link> link();
    bool healthy() { return hca_ && hca_->check_health(); }
    void serve_page_requests();

    void control_interrupt();
    bool channel_interrupt(unsigned channel);

    Result<void> open(const nic_params &);
    void close();
    Result<void> set_filter(const nic_filter &);
    Result<void> set_vlan_strip(bool on);
    Channel *channel(unsigned index) const {
        return index < channels_.size() ? channels_[index].get() : nullptr;
    }

    void queue_stats(unsigned channel, nic_queue_stats &) const;
    Result<nic_port_stats> port_stats();

  private:
    // Event queues of the control vector.
    enum Control : unsigned { kCommands, kAsync, kPages, kControlCount };

    Result<void> create_control_events();
    Result<void> create_vectors(unsigned vectors);
    void handle_commands();
    void handle_async();
    void handle_queue_error(const u8 *event);
    Result<void> check(const nic_params &) const;
    Result<void> open_queues(const nic_params &);
    Result<void> open_port(u32 hardware_mtu);

    plat *platform_ = nullptr;
    nic_events events_{};
    Owned<Hca> hca_;
    Resources resources_;
    Eq control_[kControlCount];
    bool control_ready_[kControlCount] = {};
    Mutex pages_mutex_;
    Array<Vector> vectors_;
    unsigned vectors_ready_ = 0; // those that interrupts may use
    // Between open and close.
    bool port_up_ = false;
    Array<Owned<Channel>> channels_;
    Owned<Rss> rss_;
    Owned<Steering> steering_;
};

} // namespace niclab::driver
