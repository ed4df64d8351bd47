// SPDX-License-Identifier: GPL-2.0-or-later
// An outside witness for the layouts: every table in guest-driver/spec that the kernel describes too must
// agree with the description in the kernel's own headers.
#include "kernel_layouts.h"

#include "spec/caps.h"
#include "spec/clock_registers.h"
#include "spec/command.h"
#include "spec/hca.h"
#include "spec/management_registers.h"
#include "spec/objects.h"
#include "spec/queues.h"
#include "spec/registers.h"
#include "spec/steering.h"
#include "spec/tunnel.h"

#include <gtest/gtest.h>

namespace niclab {
namespace {

struct OurField {
    const char *name;
    unsigned bit, width;
};

template <class Layout>
constexpr OurField ours(const char *name, Field<Layout> f) {
    return {name, f.dword * 8u + 31u - f.hi, f.hi - f.lo + 1u};
}
template <class Layout>
constexpr OurField ours(const char *name, Field64<Layout> f) {
    return {name, f.dword * 8u, 64};
}
constexpr OurField size(const char *name, unsigned bytes) { return {name, 0, bytes * 8}; }
constexpr OurField place(const char *name, unsigned byte) { return {name, byte * 8, 0}; }

#define AS(Layout, field, structure, theirs) ours(#Layout "." #field " (" #structure ")", Layout::field),
#define SAME(Layout, structure, name) AS(Layout, name, structure, name)
#define INSIDE(Layout, name, structure, member, nested) AS(Layout, name, structure, name)
#define PLACE(where, structure, member) place(#where, where),
#define SIZE(Layout, structure) size(#Layout, Layout::bytes),
constexpr OurField kOurs[] = {
#include "kernel_rows.inc"
};

TEST(KernelWitness, EveryFieldStandsWhereTheKernelSaysItStands) {
    ASSERT_EQ(std::size(kOurs), kernel_field_count);
    for (unsigned i = 0; i < kernel_field_count; ++i) {
        EXPECT_EQ(kOurs[i].bit, kernel_fields[i].bit) << "first bit of " << kOurs[i].name;
        EXPECT_EQ(kOurs[i].width, kernel_fields[i].width) << "width in bits of " << kOurs[i].name;
    }
}

} // namespace
} // namespace niclab
