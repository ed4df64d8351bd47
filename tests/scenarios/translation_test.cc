// SPDX-License-Identifier: GPL-2.0-or-later
// The card keeps translations of pages that it uses again. Behind a strict vIOMMU the kernel hands an I/O
// address to another page as soon as the first is unmapped, so a translation kept too long would show in the
// bytes that arrive.
#include "scenarios/lab.h"

namespace niclab::scenarios {
namespace {

class Translation : public Scenario {
  protected:
    std::uint64_t counted(const char *name) {
        std::uint64_t sum = 0;
        for (size_t card : {0u, 1u})
            sum += need(vm().card_counters(card)).at(name);
        return sum;
    }
};

TEST_F(Translation, RingsAreTranslatedOnceAndWhatTheGuestUnmapsIsForgotten) {
    std::uint64_t used = counted("translations"), missed = counted("translation_misses");
    std::uint64_t forgotten = counted("translation_invalidations"), faults = counted("dma_faults");
    for (Side from : kBothSides)
        expect_transfer(from, {.bytes = 8 << 20, .seed = 7});
    used = counted("translations") - used;
    missed = counted("translation_misses") - missed;
    EXPECT_GT(used, 0u);
    EXPECT_GT(missed, 0u) << "every page was known before it was mapped";
    EXPECT_LT(missed, used) << "no page was used again, not even a ring's";
    EXPECT_GT(counted("translation_invalidations"), forgotten)
        << "the vIOMMU told of no page that was unmapped";
    EXPECT_EQ(counted("dma_faults"), faults);
}

} // namespace
} // namespace niclab::scenarios
