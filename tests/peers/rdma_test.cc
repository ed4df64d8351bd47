// SPDX-License-Identifier: GPL-2.0-or-later
// The stock RDMA driver beside the Ethernet one: what it makes of the card does no harm.
#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class Rdma : public Scenario {};

TEST_F(Rdma, ItsDriverComesAndGoesWhileTrafficFlows) {
    need(vm().run({"modprobe", "mlx5_ib"}, 60s));
    Afterwards gone([this]() -> Status {
        CommandResult removed = NICLAB_TRY(vm().run({"rmmod", "mlx5_ib"}, 60s));
        return removed.ok() ? Status() : Status(Error{removed.err});
    });
    EXPECT_TRUE(need(vm().run({"test", "-d", "/sys/bus/auxiliary/drivers/mlx5_ib.rdma"}, 20s)).ok());
    expect_ping();
    expect_transfer(Side::a);
}

} // namespace
} // namespace niclab::scenarios
