// SPDX-License-Identifier: GPL-2.0-or-later
// What all queues of the port share: doorbell page, protection domain, the key to all memory, send interface,
// drop counter.
#pragma once

#include "core/object.h"

namespace niclab::driver {

class Resources {
  public:
    Resources() = default;
    // The doorbell page comes first, on its own: event queues need it.
    Result<void> allocate_uar(CommandInterface &);
    Result<void> allocate_rest(CommandInterface &);

    CommandInterface &commands() const { return *commands_; }
    plat *platform() const { return commands_->platform(); }
    u32 uar_page() const { return uar_.number(); }
    u32 pd() const { return pd_.number(); }
    u32 transport_domain() const { return transport_domain_.number(); }
    u32 key() const { return key_; } // as WQEs name it
    u32 tis() const { return tis_.number(); }
    u32 counter_set() const { return counter_set_.number(); }

  private:
    Result<void> create_key();
    Result<void> create_tis();

    CommandInterface *commands_ = nullptr;
    u32 key_ = 0;
    Object uar_, pd_, transport_domain_, mkey_, tis_, counter_set_; // destroyed in reverse
};

} // namespace niclab::driver
