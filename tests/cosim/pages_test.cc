// SPDX-License-Identifier: GPL-2.0-or-later
// Pages that the card asks for while it runs.
#include "connectx/device.h"
#include "cosim/port.h"
#include "spec/init_segment.h"

namespace niclab::test {
namespace {

// The model asks only when very many objects live; this raises the event at once. The handle is the device
// itself.
void request_pages(Port &port, s32 count) {
    u8 data[8] = {};
    store_be32(data + 4, static_cast<u32>(count));
    connectx::post_async(*reinterpret_cast<connectx::Device *>(port.card), Event::page_request, 0, data);
}

class CosimPages : public CosimTest {
  protected:
    void SetUp() override { ASSERT_EQ(a_->start(), 0); }
};

TEST_F(CosimPages, RequestsAreServedAndPagesComeBack) {
    u64 before = a_->counter("live_pages");
    request_pages(*a_, 10);
    request_pages(*a_, 300);
    a_->settle();
    EXPECT_EQ(a_->counter("live_pages"), before + 310);
    request_pages(*a_, -300);
    a_->settle();
    EXPECT_EQ(a_->counter("live_pages"), before + 10);
    request_pages(*a_, -2000); // more than there are: what the card needs stays
    a_->settle();
    EXPECT_EQ(a_->counter("live_pages"), before);
}

TEST_F(CosimPages, ManyRequestsOverSeveralLapsOfTheirQueue) {
    u64 before = a_->counter("live_pages");
    for (int i = 0; i < 300; ++i) {
        request_pages(*a_, i % 2 ? -3 : 3);
        a_->settle();
    }
    EXPECT_EQ(a_->counter("live_pages"), before);
}

TEST_F(CosimPages, ARequestWithoutMemoryIsRefusedAndTheNextServed) {
    u64 before = a_->counter("live_pages");
    ledger().fail_at = ledger().steps + 20;
    request_pages(*a_, 50);
    a_->settle();
    EXPECT_TRUE(ledger().failed);
    EXPECT_TRUE(ledger().logged("no memory for the card's page request"));
    EXPECT_EQ(a_->counter("live_pages"), before);
    request_pages(*a_, 5);
    a_->settle();
    EXPECT_EQ(a_->counter("live_pages"), before + 5);
}

TEST_F(CosimPages, AnAbsurdRequestIsRefused) {
    request_pages(*a_, 0x7fffffff);
    a_->settle();
    EXPECT_TRUE(ledger().logged("more than the driver lends"));
    EXPECT_EQ(nic_health(a_->driver), 0);
}

// Holds the first ordinary command back until pages arrive, as firmware that needs them to go on.
class Hungry : public Port {
  public:
    using Port::Port;
    bool hungry = false;
    unsigned held = 0;
    void write32(u32 offset, u32 value) override {
        if (hungry && offset == init_segment::kCmdDoorbell && value == 1 && !held_value_) {
            held_value_ = value;
            pages_ = counter("live_pages");
            ++held;
            request_pages(*this, 7);
            return;
        }
        Port::write32(offset, value);
    }
    void run() override {
        if (held_value_ && counter("live_pages") == pages_ + 7) {
            u32 value = held_value_;
            held_value_ = 0;
            Port::write32(init_segment::kCmdDoorbell, value);
        }
        Port::run();
    }

  private:
    u32 held_value_ = 0;
    u64 pages_ = 0;
};

TEST(CosimPagesOwnQueue, PagesAreGivenWhileAnotherCommandWaitsForThem) {
    reset_ledger();
    {
        Hungry port(3);
        ASSERT_EQ(port.start(), 0);
        port.hungry = true;
        u64 before = ledger().now_ms;
        EXPECT_EQ(port.open(), 0);
        EXPECT_GT(port.held, 10u);
        EXPECT_LT(ledger().now_ms - before, 60'000u + 1000 * port.held);
        port.hungry = false;
        port.tear_down();
        EXPECT_EQ(port.counter("live_pages"), 0u);
    }
    EXPECT_EQ(ledger().leftovers(), "");
}

} // namespace
} // namespace niclab::test
