// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/vm_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "niclab/domain_xml.h"
#include "niclab/gdb_script.h"

namespace niclab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(VmSpec, TheUsualMachineIsAccepted) {
    for (const char *kernel : {"6.1", "6.12"})
        EXPECT_EQ(validate(two_connectx_ports(kernel)).why(), "");
}

struct Mistake {
    const char *name;
    void (*make)(VmSpec &);
    const char *said; ///< must occur in the sentence
};

class EachMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(EachMistake, IsNamed) {
    VmSpec spec = two_connectx_ports("6.1");
    GetParam().make(spec);
    Status status = validate(spec);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.why(), HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    VmSpec, EachMistake,
    ::testing::Values(
        Mistake{"kernel", [](VmSpec &spec) { spec.kernel = "5.10"; }, "5.10"},
        Mistake{"no_cpu", [](VmSpec &spec) { spec.vcpus = 0; }, "0 CPUs"},
        Mistake{"many_cpus", [](VmSpec &spec) { spec.vcpus = 65; }, "65 CPUs"},
        Mistake{"little_memory", [](VmSpec &spec) { spec.memory_mib = 255; }, "255 MiB"},
        Mistake{"many_cards", [](VmSpec &spec) { spec.nics.resize(13); }, "13 cards"},
        Mistake{"mac", [](VmSpec &spec) { spec.nics[1].mac = "52:54:00:6e:01:0g"; }, "52:54:00:6e:01:0g"},
        Mistake{"short_mac", [](VmSpec &spec) { spec.nics[1].mac = "52:54"; }, "52:54"},
        Mistake{"same_mac", [](VmSpec &spec) { spec.nics[1].mac = "52:54:00:6e:01:00"; }, "two cards"},
        Mistake{"model", [](VmSpec &spec) { spec.nics[0].model = "a,b"; }, "a,b"},
        Mistake{"property",
                [](VmSpec &spec) {
                    spec.nics[0].properties = {{"queues", "1,bus=x"}};
                },
                "queues"},
        Mistake{"netdev", [](VmSpec &spec) { spec.nics[0].netdev = ""; }, "netdev"},
        Mistake{"caching", [](VmSpec &spec) { spec.iommu = false, spec.caching_mode = true; },
                "caching mode"},
        Mistake{"counting_cpus",
                [](VmSpec &spec) {
                    spec.counting = CountingSpec{"/s", {}};
                },
                "2 CPUs cannot"},
        Mistake{"counting_kvm",
                [](VmSpec &spec) {
                    spec.vcpus = 1;
                    spec.accel = Accel::kvm;
                    spec.counting = CountingSpec{"/s", {}};
                },
                "under KVM"},
        Mistake{"counting_socket",
                [](VmSpec &spec) {
                    spec.vcpus = 1;
                    spec.counting = CountingSpec{"/s,x", {}};
                },
                "/s,x"},
        Mistake{"line_break", [](VmSpec &spec) { spec.kernel_command_line = "a\nb"; }, "line break"},
        Mistake{"file",
                [](VmSpec &spec) {
                    spec.files = {{"/nonexistent", "/x", 0644}};
                },
                "/nonexistent"},
        Mistake{"guest_path",
                [](VmSpec &spec) {
                    spec.files = {{"/proc/self/stat", "x", 0644}};
                },
                "'x'"},
        Mistake{"two_files",
                [](VmSpec &spec) {
                    spec.files = {{"/proc/self/stat", "/x", 0644}, {"/proc/self/stat", "/x", 0644}};
                },
                "'/x'"}),
    [](const auto &each) { return each.param.name; });

VmFiles files() {
    return {"vm", "", "/r/initramfs.cpio", "/r/console.log", "/r/trace.log", "/s/agent", "/s/gdb", {}};
}

TEST(DomainXml, ADebuggerIsListenedForOnlyWhenAskedFor) {
    VmSpec spec = two_connectx_ports("6.1");
    EXPECT_EQ(domain_xml(spec, files()).find("gdb"), std::string::npos);
    spec.gdb = true;
    EXPECT_NE(domain_xml(spec, files()).find("unix:/s/gdb,server=on,wait=off"), std::string::npos);
    EXPECT_NE(kernel_command_line(spec).find("nokaslr"), std::string::npos);
}

TEST(DomainXml, ACardKeepsWhatItDidLastInAFileWhoseNameMayHaveAComma) {
    VmSpec spec = two_connectx_ports("6.1");
    VmFiles with_files = files();
    with_files.recent = {"", "/r,1/nic1.recent"};
    std::string xml = domain_xml(spec, with_files);
    EXPECT_NE(xml.find("bus=nicport0'"), std::string::npos);
    EXPECT_NE(xml.find("bus=nicport1,recent=/r,,1/nic1.recent'"), std::string::npos);
}

TEST(GdbScript, LoadsSymbolsOfModulesWhoseFileIsKnown) {
    std::string script = gdb_script("/s/gdb", {{"niclab", "/b/niclab.ko"}},
                                    "niclab .text 0xffffffffc0001000\nniclab .note.Linux 0xffffffffc0005000\n"
                                    "other .text 0xffffffffc0009000\nniclab .data 0xffffffffc0002000\n");
    EXPECT_NE(
        script.find("target remote /s/gdb\nadd-symbol-file \"/b/niclab.ko\" -s .text 0xffffffffc0001000 "
                    "-s .data 0xffffffffc0002000\n"),
        std::string::npos);
    EXPECT_EQ(script.find("symbol-file \"/b/vmlinux\""), std::string::npos);
    EXPECT_NE(gdb_script("/s/gdb", {{"", "/b/vmlinux"}}, "").find("symbol-file \"/b/vmlinux\"\n"),
              std::string::npos);
}

TEST(DomainXml, CardsSitBehindRootPortsWithKnownSlots) {
    VmSpec spec = two_connectx_ports("6.1");
    spec.nics[1].properties = {{"queues", "4"}};
    std::string xml = domain_xml(spec, files());
    EXPECT_THAT(xml, HasSubstr("pcie-root-port,id=nicport0,bus=pcie.0,addr=0x10,"));
    EXPECT_THAT(xml, HasSubstr("connectx,id=nic0,netdev=net0,mac=52:54:00:6e:01:00,bus=nicport0'"));
    EXPECT_THAT(xml, HasSubstr("connectx,id=nic1,netdev=net1,mac=52:54:00:6e:01:01,bus=nicport1,queues=4'"));
    EXPECT_EQ(root_port_address(1), "0000:00:11.0");
}

TEST(DomainXml, AccelerationAndCpuGoTogether) {
    VmSpec spec;
    spec.accel = Accel::kvm;
    EXPECT_THAT(domain_xml(spec, files()), HasSubstr("<domain type='kvm'"));
    EXPECT_THAT(domain_xml(spec, files()), HasSubstr("host-passthrough"));
    EXPECT_THAT(kernel_command_line(spec), Not(HasSubstr("tsc=")));
    spec.accel = Accel::tcg;
    EXPECT_THAT(domain_xml(spec, files()), HasSubstr("<domain type='qemu'"));
    EXPECT_THAT(kernel_command_line(spec), HasSubstr("tsc=reliable"));
}

TEST(DomainXml, TheIommuIsStrictAndCachingModeIsAsked) {
    VmSpec spec;
    EXPECT_THAT(domain_xml(spec, files()), HasSubstr("caching_mode='off'"));
    EXPECT_THAT(kernel_command_line(spec), HasSubstr("intel_iommu=on iommu.strict=1"));
    spec.caching_mode = true;
    EXPECT_THAT(domain_xml(spec, files()), HasSubstr("caching_mode='on'"));
    spec.caching_mode = false;
    spec.iommu_mode = IommuMode::lazy;
    EXPECT_THAT(kernel_command_line(spec), HasSubstr("intel_iommu=on iommu.strict=0"));
    spec.iommu_mode = IommuMode::passthrough;
    EXPECT_THAT(kernel_command_line(spec), HasSubstr("intel_iommu=on iommu.passthrough=1"));
    spec.caching_mode = false;
    spec.iommu = false;
    EXPECT_THAT(domain_xml(spec, files()), Not(HasSubstr("iommu")));
}

TEST(DomainXml, InCountingModeTimeIsInstructionsAndNothingIsRandom) {
    VmSpec spec;
    spec.vcpus = 1;
    spec.accel = Accel::tcg;
    EXPECT_THAT(domain_xml(spec, files()), Not(HasSubstr("icount")));
    spec.counting = CountingSpec{"/s/marks", "/p/count.so"};
    std::string xml = domain_xml(spec, files());
    EXPECT_EQ(xml, domain_xml(spec, files()));
    for (const char *word : {"<qemu:arg value='-icount'/>", "shift=0,sleep=off", "<qemu:arg value='-seed'/>",
                             "/p/count.so,socket=/s/marks", "<uuid>", "offset='absolute'", "track='guest'",
                             "<feature policy='disable' name='rdrand'/>", " nokaslr norandmaps"})
        EXPECT_THAT(xml, HasSubstr(word));
}

TEST(DomainXml, TextOfTheCallerStaysText) {
    VmSpec spec;
    spec.kernel_command_line = "a='<&>'";
    EXPECT_THAT(domain_xml(spec, files()), HasSubstr("a=&apos;&lt;&amp;&gt;&apos;</cmdline>"));
}

} // namespace
} // namespace niclab
