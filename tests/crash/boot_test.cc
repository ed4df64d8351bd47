// SPDX-License-Identifier: GPL-2.0-or-later
// Machines that do not come up end soon, with a verdict that says why.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "niclab/paths.h"
#include "niclab/vm.h"
#include "support/temp_folder.h"

namespace niclab {
namespace {

using testing::HasSubstr;

class NoBoot : public testing::Test {
  protected:
    /// Why it did not boot; its folder has the end of the console, and the machine has gone.
    std::string why(const VmSpec &spec) {
        auto run = RunFolder::create("no-boot");
        if (!run.ok()) return run.why();
        auto vm = Vm::boot(spec, *run);
        if (vm.ok()) return "it is up";
        auto kept = read_file(run->file("boot-failure.txt"));
        EXPECT_TRUE(kept.ok()) << kept.why();
        EXPECT_THAT(kept.ok() ? *kept : "", HasSubstr("the console's last lines:\n"));
        auto log = read_file(run->file("qemu.log"));
        EXPECT_TRUE(log.ok()) << log.why();
        EXPECT_THAT(log.ok() ? *log : "", HasSubstr("shutting down, reason="));
        return vm.why();
    }
    static VmSpec bare_machine() {
        VmSpec spec;
        spec.iommu = false;
        return spec;
    }
};

TEST_F(NoBoot, WithoutARootFileSystem) {
    VmSpec spec = bare_machine();
    spec.kernel_command_line = "rdinit=/nowhere";
    EXPECT_THAT(why(spec), HasSubstr("boot failure (no root): "));
}

TEST_F(NoBoot, WithoutAFirstProcess) {
    VmSpec spec = bare_machine();
    spec.kernel_command_line = "rdinit=/etc/passwd init=/nowhere";
    EXPECT_THAT(why(spec), HasSubstr("boot failure (no init): "));
}

TEST_F(NoBoot, ButARestart) {
    test::TempFolder folder;
    std::string script = folder.path() / "autorun";
    std::ofstream(script) << "#!/bin/sh\nexec busybox reboot -f\n";
    VmSpec spec = bare_machine();
    spec.files.push_back({script, "/niclab/autorun", 0755});
    EXPECT_THAT(why(spec), HasSubstr("boot failure (restart): "));
}

} // namespace
} // namespace niclab
