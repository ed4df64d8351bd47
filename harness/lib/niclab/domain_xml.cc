// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/domain_xml.h"

#include <vector>

#include <fmt/format.h>

namespace niclab {
namespace {

std::string escaped(std::string_view text) {
    std::string result;
    for (char c : text) {
        switch (c) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '\'':
            result += "&apos;";
            break;
        default:
            result += c;
        }
    }
    return result;
}

/// As the value of a QEMU option, where a comma ends the value unless it is doubled.
std::string option_value(const std::string &text) {
    std::string doubled;
    for (char c : text)
        doubled.append(c == ',' ? 2 : 1, c);
    return doubled;
}

/// Each card behind a root port of its own, at a slot we know, so that the guest side can find card i by its
/// place.
void add_nics(const VmSpec &spec, const VmFiles &files, std::vector<std::string> &arguments) {
    for (size_t i = 0; i < spec.nics.size(); ++i) {
        const NicSpec &nic = spec.nics[i];
        std::string slot = root_port_address(i).substr(8, 2);
        arguments.insert(arguments.end(), {"-netdev", fmt::format("{},id=net{}", nic.netdev, i)});
        arguments.insert(arguments.end(),
                         {"-device", fmt::format("pcie-root-port,id=nicport{0},bus=pcie.0,addr=0x{1},"
                                                 "chassis={2},slot={2}",
                                                 i, slot, 100 + i)});
        std::string device =
            fmt::format("{},id=nic{},netdev=net{},mac={},bus=nicport{}", nic.model, i, i, mac_of(spec, i), i);
        for (const auto &[key, value] : nic.properties)
            device += fmt::format(",{}={}", key, value);
        if (i < files.recent.size() && !files.recent[i].empty())
            device += ",recent=" + option_value(files.recent[i]);
        arguments.insert(arguments.end(), {"-device", device});
    }
}

std::vector<std::string> qemu_arguments(const VmSpec &spec, const VmFiles &files) {
    // Firmware comes from Debian's packages, not from our QEMU build. Without a keyboard controller the
    // firmware has nothing to wait for.
    std::vector<std::string> arguments = {"-L",       "/usr/share/seabios", "-L", "/usr/share/qemu",
                                          "-machine", "i8042=off",          "-D", files.trace_log,
                                          "-d",       "guest_errors"};
    for (const std::string &event : spec.trace_events)
        arguments.insert(arguments.end(), {"-trace", event});
    add_nics(spec, files, arguments);
    if (spec.gdb)
        arguments.insert(arguments.end(),
                         {"-gdb", fmt::format("unix:{},server=on,wait=off", option_value(files.gdb_socket))});
    if (spec.counting)
        arguments.insert(arguments.end(),
                         {"-icount", "shift=0,sleep=off", "-seed", "1", "-plugin",
                          fmt::format("{},socket={}", spec.counting->plugin, spec.counting->socket)});
    arguments.insert(arguments.end(), spec.qemu_arguments.begin(), spec.qemu_arguments.end());
    return arguments;
}

std::string cpu_xml(const VmSpec &spec) {
    if (!spec.cpu.empty())
        return fmt::format(
            "<cpu mode='custom' match='exact' check='none'><model fallback='forbid'>{}</model></cpu>",
            escaped(spec.cpu));
    if (spec.accel == Accel::kvm) return "<cpu mode='host-passthrough'/>";
    // Five-level page tables would make every page walk of the emulator longer.
    std::vector<std::string> without = {"la57"};
    // Without fast string instructions the kernel copies by eight bytes: the emulator counts each step of
    // theirs, which is one byte.
    if (spec.counting) without.insert(without.end(), {"rdrand", "rdseed", "erms", "fsrm"});
    std::string features;
    for (const std::string &name : without)
        features += fmt::format("<feature policy='disable' name='{}'/>", name);
    return "<cpu mode='maximum'>" + features + "</cpu>";
}

/// What a guest reads of time and identity is the same in each run of counting mode.
std::string clock_xml(const VmSpec &spec) {
    if (!spec.counting) return "<clock offset='utc'><timer name='hpet' present='no'/></clock>";
    return "<clock offset='absolute' start='1704067200'><timer name='rtc' track='guest'/>"
           "<timer name='hpet' present='no'/></clock>";
}

std::string uuid_xml(const VmSpec &spec) {
    return spec.counting ? "\n  <uuid>6e69636c-6162-4000-8000-000000000001</uuid>" : "";
}

std::string iommu_xml(const VmSpec &spec) {
    if (!spec.iommu) return {};
    return fmt::format("    <iommu model='intel'><driver intremap='on' caching_mode='{}'/></iommu>\n",
                       spec.caching_mode ? "on" : "off");
}

std::string console_xml(const VmSpec &spec, const VmFiles &files) {
    std::string path = escaped(files.console_log.string());
    if (spec.console == ConsoleMode::pty)
        return fmt::format("<serial type='pty'><log file='{}' append='off'/><target port='0'/></serial>",
                           path);
    return fmt::format("<serial type='file'><source path='{}'/><target port='0'/></serial>", path);
}

std::string arguments_xml(const std::vector<std::string> &arguments) {
    std::string xml;
    for (const std::string &argument : arguments)
        xml += fmt::format("    <qemu:arg value='{}'/>\n", escaped(argument));
    return xml;
}

std::string iommu_words(const VmSpec &spec) {
    if (!spec.iommu) return {};
    std::string words = " intel_iommu=on";
    switch (spec.iommu_mode) {
    case IommuMode::strict:
        return words + " iommu.strict=1";
    case IommuMode::lazy:
        return words + " iommu.strict=0";
    case IommuMode::passthrough:
        break;
    }
    return words + " iommu.passthrough=1";
}

} // namespace

std::string kernel_command_line(const VmSpec &spec) {
    // A kernel that panics reboots at once, and on_reboot ends QEMU, so a panic is seen as an end and not as
    // silence.
    std::string line = "console=ttyS0 panic=-1 net.ifnames=0 cryptomgr.notests random.trust_cpu=on";
    // Emulated CPUs run late now and then. The kernel's checks would then choose a clock that is slow to
    // read, or panic because a timer interrupt did not come in time.
    if (spec.accel != Accel::kvm) line += " tsc=reliable no_timer_check";
    line += iommu_words(spec);
    if (spec.gdb && !spec.counting) line += " nokaslr"; // vmlinux says where things are without
    if (spec.counting) line += " nokaslr norandmaps mitigations=off";
    if (!spec.kernel_command_line.empty()) line += " " + spec.kernel_command_line;
    return line;
}

std::string domain_xml(const VmSpec &spec, const VmFiles &files) {
    return fmt::format(
        R"(<domain type='{type}' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>{name}</name>{uuid}
  <memory unit='MiB'>{memory}</memory>
  <vcpu>{vcpus}</vcpu>
  {cpu}
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <kernel>{kernel}</kernel>
    <initrd>{initramfs}</initrd>
    <cmdline>{cmdline}</cmdline>
  </os>
  <features><acpi/><apic/><ioapic driver='qemu'/></features>
  {clock}
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>destroy</on_reboot>
  <on_crash>destroy</on_crash>
  <devices>
    <emulator>{qemu}</emulator>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
    <audio id='1' type='none'/>
    <video><model type='none'/></video>
    {console}
    <channel type='unix'>
      <source mode='bind' path='{agent}'/>
      <target type='virtio' name='org.qemu.guest_agent.0'/>
    </channel>
{iommu}  </devices>
  <qemu:commandline>
{arguments}  </qemu:commandline>
</domain>
)",
        fmt::arg("type", spec.accel == Accel::kvm ? "kvm" : "qemu"), fmt::arg("name", escaped(files.name)),
        fmt::arg("memory", spec.memory_mib), fmt::arg("vcpus", spec.vcpus), fmt::arg("cpu", cpu_xml(spec)),
        fmt::arg("uuid", uuid_xml(spec)), fmt::arg("clock", clock_xml(spec)),
        fmt::arg("kernel", escaped(spec.kernel_image)),
        fmt::arg("initramfs", escaped(files.initramfs.string())),
        fmt::arg("cmdline", escaped(kernel_command_line(spec))), fmt::arg("qemu", escaped(spec.qemu)),
        fmt::arg("console", console_xml(spec, files)),
        fmt::arg("agent", escaped(files.agent_socket.string())), fmt::arg("iommu", iommu_xml(spec)),
        fmt::arg("arguments", arguments_xml(qemu_arguments(spec, files))));
}

} // namespace niclab
