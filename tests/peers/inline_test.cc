// SPDX-License-Identifier: GPL-2.0-or-later
// Cards that want headers inside the WQE: the stock driver reads it in the vport context and obeys. The card
// stops a queue that does not.
#include <fmt/format.h>

#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class InlineHeaders : public Scenario {
  protected:
    Status configure(unsigned headers) {
        NICLAB_TRY(guest().unbind_driver(Side::a));
        NICLAB_TRY(vm().qmp(
            "qom-set",
            {{"path", "/machine/peripheral/nic0"}, {"property", "inline-headers"}, {"value", headers}}));
        NICLAB_TRY(guest().bind_driver(Side::a, subject().driver));
        NICLAB_TRY(guest().set_up(Side::a));
        return guest().wait_link(Side::a);
    }
};

TEST_F(InlineHeaders, TheDriverPutsThemThereAndSharesNoElement) {
    Afterwards usual([this] { return configure(0); });
    for (unsigned headers : {1u, 2u, 3u}) {
        SCOPED_TRACE(fmt::format("inline-headers={}", headers));
        need(configure(headers));
        std::uint64_t failed = card_counter(Side::a, "error_completions");
        expect_ping();
        expect_transfer(Side::a);
        expect_transfer(Side::a, {.bytes = 1 << 20, .ipv6 = true});
        EXPECT_EQ(statistic(Side::a, "tx_mpwqe_pkts"), 0u);
        EXPECT_EQ(card_counter(Side::a, "error_completions"), failed);
    }
}

} // namespace
} // namespace niclab::scenarios
