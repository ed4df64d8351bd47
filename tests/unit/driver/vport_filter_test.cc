// SPDX-License-Identifier: GPL-2.0-or-later
// What the driver tells firmware about wanted addresses. Bytes are those of MODIFY_NIC_VPORT_CONTEXT in the
// manual: field_select @0xc, the context from 0x100 on, its filter word @0xf0, 8-byte list entries @0x100.
#include <gtest/gtest.h>

#include "core/vport_filter.h"
#include "support/scripted_card.h"

namespace niclab::test {
namespace {

using driver::CommandInterface;
using driver::VportFilter;

constexpr u32 kSelectList = 1 << 2, kSelectPromiscuous = 1 << 4;

class VportFilterTest : public testing::Test {
  protected:
    VportFilterTest() {
        reset_ledger();
        card_ = std::make_unique<ScriptedCard>();
        commands_ = CommandInterface::make(card_.get()).take();
        filter_ = std::make_unique<VportFilter>();
        filter_->start(*commands_, {.unicast = 4, .multicast = 2});
    }
    void TearDown() override {
        filter_.reset();
        commands_.reset();
        EXPECT_EQ(ledger().leftovers(), "");
    }
    void apply(const std::vector<std::array<u8, 6>> &addresses, bool all_multicast = false,
               bool everything = false) {
        nic_filter filter{};
        std::copy(std::begin(kOwn), std::end(kOwn), filter.mac);
        filter.addresses = reinterpret_cast<const unsigned char(*)[6]>(addresses.data());
        filter.address_count = static_cast<unsigned>(addresses.size());
        filter.all_multicast = all_multicast;
        card_->commands.clear();
        EXPECT_EQ(filter_->apply(filter, everything).error(), 0);
    }
    // The commands since then: "bits XYZ" for unicast, multicast and all, "list T: last bytes of its
    // addresses".
    std::vector<std::string> told() const {
        std::vector<std::string> lines;
        for (const ScriptedCard::Seen &seen : card_->commands) {
            EXPECT_EQ(seen.opcode, 0x755);
            EXPECT_EQ(seen.op_mod, 0);
            u32 select = load_be32(&seen.in[0x0c]), word = load_be32(&seen.in[0x1f0]);
            if (select == kSelectPromiscuous)
                lines.push_back("bits " + std::to_string(word >> 31) + std::to_string(word >> 30 & 1) +
                                std::to_string(word >> 29 & 1));
            else if (select == kSelectList)
                lines.push_back(list(seen.in, word));
            else
                ADD_FAILURE() << "field_select " << select;
        }
        return lines;
    }

    static constexpr u8 kOwn[6] = {0x02, 0, 0, 0, 0, 0xaa};
    std::unique_ptr<ScriptedCard> card_;
    driver::Owned<CommandInterface> commands_;
    std::unique_ptr<VportFilter> filter_;

  private:
    static std::string list(const std::vector<u8> &in, u32 word) {
        usize entries = word & 0xfff;
        EXPECT_EQ(in.size(), 0x200 + 8 * entries);
        std::string line = "list " + std::to_string(word >> 24 & 7) + ":";
        for (usize i = 0; i < entries; ++i) {
            const u8 *entry = &in[0x200 + 8 * i];
            EXPECT_EQ(load_be16(entry), 0);
            line += " " + std::to_string(entry[2] & 1) + "/" + std::to_string(entry[7]);
        }
        return line;
    }
};

std::array<u8, 6> unicast(u8 last) { return {0x02, 0, 0, 0, 0, last}; }
std::array<u8, 6> multicast(u8 last) { return {0x33, 0x33, 0, 0, 0, last}; }
using Told = std::vector<std::string>;

TEST_F(VportFilterTest, OwnAddressAndBroadcastAreAlwaysListed) {
    apply({});
    EXPECT_EQ(told(), (Told{"list 0: 0/170", "list 1: 1/255"}));
}

TEST_F(VportFilterTest, AddressesGoIntoTheListOfTheirKind) {
    apply({unicast(1), multicast(2), unicast(3)});
    EXPECT_EQ(told(), (Told{"list 0: 0/170 0/1 0/3", "list 1: 1/255 1/2"}));
}

TEST_F(VportFilterTest, AListBeyondItsLimitBecomesItsPromiscuousBit) {
    apply({unicast(1), unicast(2), unicast(3)});
    EXPECT_EQ(told(), (Told{"list 0: 0/170 0/1 0/2 0/3", "list 1: 1/255"}));
    apply({unicast(1), unicast(2), unicast(3), unicast(4)});
    EXPECT_EQ(told(), (Told{"bits 100", "list 0:", "list 1: 1/255"}));
    apply({multicast(1), multicast(2)});
    EXPECT_EQ(told(), (Told{"bits 110", "list 0: 0/170", "list 1:", "bits 010"}));
}

TEST_F(VportFilterTest, BitsWidenBeforeTheListsAndNarrowAfterThem) {
    apply({}, /*all_multicast=*/true);
    EXPECT_EQ(told(), (Told{"bits 010", "list 0: 0/170", "list 1: 1/255"}));
    apply({}, false, /*everything=*/true);
    EXPECT_EQ(told(), (Told{"bits 111", "list 0: 0/170", "list 1: 1/255"}));
    apply({});
    EXPECT_EQ(told(), (Told{"list 0: 0/170", "list 1: 1/255", "bits 000"}));
}

TEST_F(VportFilterTest, NothingIsLeftBehind) {
    apply({unicast(1)}, false, /*everything=*/true);
    card_->commands.clear();
    filter_.reset();
    EXPECT_EQ(told(), (Told{"bits 000", "list 0:", "list 1:"}));
}

TEST_F(VportFilterTest, ARefusedCommandIsTriedAgainNextTime) {
    card_->answer = [](const ScriptedCard::Seen &, std::vector<u8> &out) { out[0] = 0x03; };
    nic_filter filter{};
    EXPECT_NE(filter_->apply(filter, true).error(), 0);
    card_->answer = {};
    apply({}, false, /*everything=*/true);
    EXPECT_EQ(told(), (Told{"bits 111", "list 0: 0/170", "list 1: 1/255"}));
}

} // namespace
} // namespace niclab::test
