// SPDX-License-Identifier: GPL-2.0-or-later
// Frames that a port sends to itself: which way they go, and which TIRs let them in.
#include "spec/hca.h"
#include "support/send_test.h"

namespace niclab::test {
namespace {

using Modify = ModifyNicVportContextIn;
constexpr Bytes::value_type kOwn[] = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56}; // the card's address
constexpr u32 kOwnUnicast = 1, kOwnMulticast = 2;                          // TIR context 0x24, bits 24 and 25

class Loopback : public SendTest {
  protected:
    Loopback() {
        card_.set_loopback(true);
        rx_cq_ = card_.create_cq(5);
        rq_ = card_.create_rq(5, 4, rx_cq_.number);
        tirn_ = card_.create_tir(rq_.number);
        card_.catch_all(tirn_);
    }
    void let_in(u32 bits) {
        CommandInput in(Opcode::modify_tir, ModifyTirIn::bytes);
        in.set(ModifyTirIn::number, tirn_).set(ModifyTirIn::bitmask, ModifyTirIn::kSelfLoopback);
        card_.driver.must(in.set(TirContext::self_lb_block, bits, ModifyTirIn::context));
    }
    static CommandInput vport(Field<Modify> select, Field<NicVportContext> field, u32 value) {
        return CommandInput(Opcode::modify_nic_vport_context, 0x200)
            .set(select, 1)
            .set(field, value, Modify::context);
    }
    static Bytes to(std::span<const u8> address) {
        Bytes bytes(60, 0x5a);
        std::copy(address.begin(), address.end(), bytes.begin());
        return bytes;
    }
    struct Went {
        usize wire, back;
        bool operator==(const Went &) const = default;
    };
    // How often the frame went out and came back. What comes back is the frame.
    Went went(const Bytes &bytes) {
        buffers_.push_back(card_.post_buffer(rq_));
        usize out = wire(send_of(bytes)).size();
        std::vector<Completion> came = card_.drain(rx_cq_);
        for (const Completion &one : came) {
            EXPECT_EQ(one.get(Cqe::byte_cnt), bytes.size());
            EXPECT_EQ(card_.host.memory.bytes(buffers_.front(), bytes.size()), bytes);
            buffers_.erase(buffers_.begin());
        }
        return {out, came.size()};
    }

    Queue rx_cq_, rq_;
    std::vector<u64> buffers_; // posted, the oldest first
    u32 tirn_ = 0;
};

TEST_F(Loopback, FramesToTheOwnAddressComeBackToTirsThatLetThemIn) {
    let_in(kOwnUnicast);
    EXPECT_EQ(went(to(kOwn)), (Went{0, 1}));
    EXPECT_EQ(card_.host.counter("loopback_frames"), 1u);
    EXPECT_EQ(card_.host.counter("tx_frames"), 0u) << "none on the wire";
    EXPECT_EQ(card_.host.counter("rx_frames"), 0u);
    let_in(0);
    EXPECT_EQ(went(to(kOwn)), (Went{0, 0}));
    EXPECT_EQ(card_.host.counter("loopback_unwanted"), 1u);
    let_in(kOwnMulticast);
    EXPECT_EQ(went(to(kOwn)), (Went{0, 0})) << "the other kind";
}

TEST_F(Loopback, AddressesOfTheUnicastListAreOwnToo) {
    let_in(kOwnUnicast);
    const Bytes::value_type second[] = {0x02, 0, 0, 0, 0, 0x07};
    EXPECT_EQ(went(to(second)), (Went{1, 0}));
    CommandInput list = vport(Modify::select_addresses_list, NicVportContext::allowed_list_size, 1);
    card_.driver.must(list.put_be64(0x200, 0x0200'0000'0007));
    EXPECT_EQ(went(to(second)), (Went{0, 1}));
    EXPECT_EQ(went(to(kOwn)), (Went{0, 1}));
}

TEST_F(Loopback, FramesToManyGoBothWays) {
    const Bytes::value_type group[] = {0x01, 0, 0x5e, 0, 0, 1};
    let_in(kOwnMulticast);
    EXPECT_EQ(went(to(group)), (Went{1, 1}));
    EXPECT_EQ(went(Bytes(60, 0xff)), (Went{1, 1}));
    let_in(kOwnUnicast);
    EXPECT_EQ(went(to(group)), (Went{1, 0}));
}

TEST_F(Loopback, TheVportSwitchesEachKindOff) {
    let_in(kOwnUnicast | kOwnMulticast);
    card_.driver.must(vport(Modify::select_disable_uc_local_lb, NicVportContext::disable_uc_local_lb, 1));
    EXPECT_EQ(went(to(kOwn)), (Went{1, 0})) << "like any other frame";
    EXPECT_EQ(went(Bytes(60, 0xff)), (Went{1, 1}));
    card_.driver.must(vport(Modify::select_disable_mc_local_lb, NicVportContext::disable_mc_local_lb, 1));
    EXPECT_EQ(went(Bytes(60, 0xff)), (Went{1, 0}));
    CommandResult shown = card_.driver.must({Opcode::query_nic_vport_context, 0x10}, 0x110);
    EXPECT_EQ(load_be32(shown.out.data() + 0x10) & 6, 6u);
    card_.driver.must(vport(Modify::select_disable_uc_local_lb, NicVportContext::disable_uc_local_lb, 0));
    EXPECT_EQ(went(to(kOwn)), (Went{0, 1}));
}

// Nothing is posted, so each is lost at the queue; the sender's work completes all the same.
TEST_F(Loopback, AFullReceiverIsNoTroubleForTheSender) {
    let_in(kOwnUnicast);
    for (int i = 0; i < 3; ++i)
        card_.send(sq_, send_of(to(kOwn)));
    EXPECT_EQ(card_.drain(cq_).size(), 3u);
    EXPECT_EQ(card_.host.counter("rx_drop_out_of_buffer"), 3u);
}

} // namespace
} // namespace niclab::test
