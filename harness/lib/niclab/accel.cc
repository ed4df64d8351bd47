// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/accel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "niclab/lifeline.h"
#include "niclab/paths.h"
#include "niclab/process.h"
#include "niclab/progress.h"
#include "niclab/vm.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace niclab {
namespace {

// With working KVM the guest's agent answers in about two seconds.
constexpr auto kProbeLimit = std::chrono::seconds(20);

fs::path cache_file() { return cache_root() / "acceleration.json"; }

/// One process probes, the others wait for its answer.
class FileLock {
  public:
    explicit FileLock(const fs::path &path) : fd_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
        if (fd_ >= 0) flock(fd_, LOCK_EX);
    }
    ~FileLock() {
        if (fd_ >= 0) close(fd_);
    }
    FileLock(const FileLock &) = delete;
    FileLock &operator=(const FileLock &) = delete;

  private:
    int fd_;
};

json read_cache() {
    auto text = read_file(cache_file());
    json all = text.ok() ? json::parse(*text, nullptr, /*allow_exceptions=*/false) : json::object();
    return all.is_object() ? all : json::object();
}

std::string cpu_model() {
    auto text = read_file("/proc/cpuinfo");
    size_t at = text.ok() ? text->find("model name") : std::string::npos;
    if (at == std::string::npos) return "unknown";
    size_t colon = text->find(':', at);
    return text->substr(colon + 2, text->find('\n', colon) - colon - 2);
}

AccelVerdict boot_with_kvm(const std::string &qemu) {
    auto run = RunFolder::create("accel-probe");
    if (!run.ok()) return {Accel::tcg, run.why()};
    VmSpec spec;
    spec.qemu = qemu;
    spec.accel = Accel::kvm;
    spec.vcpus = 1;
    auto vm = Vm::boot(spec, *run, kProbeLimit);
    if (vm.ok()) return {Accel::kvm, "a probe guest booted with KVM"};
    return {Accel::tcg, "a probe guest did not boot with KVM: " + vm.why()};
}

} // namespace

std::string accel_key(const std::string &qemu) {
    utsname host{};
    uname(&host);
    // QEMU's version, not its file: a change in our card does not change what KVM can do.
    auto version = run_process({qemu, "--version"});
    std::string line = version.ok() ? version->out.substr(0, version->out.find('\n')) : qemu;
    return fmt::format("{} | {} | {}", cpu_model(), host.release, line);
}

std::optional<AccelVerdict> known_accel(const std::string &qemu) {
    json entry = read_cache().value(accel_key(qemu), json());
    if (!entry.is_object()) return std::nullopt;
    return AccelVerdict{entry.value("accel", "tcg") == "kvm" ? Accel::kvm : Accel::tcg,
                        entry.value("reason", "")};
}

AccelVerdict probe_accel(const std::string &qemu) {
    if (access("/dev/kvm", R_OK | W_OK) != 0) return {Accel::tcg, "/dev/kvm cannot be opened"};
    std::error_code failed;
    fs::create_directories(cache_root(), failed);
    FileLock lock(cache_root() / "acceleration.lock");
    if (auto known = known_accel(qemu)) return *known;
    progress("finding out whether KVM works here (once; at most 20 s)");
    AccelVerdict verdict = boot_with_kvm(qemu);
    progress("  " + verdict.reason);
    // Only the newest verdict per key matters, and keys are few: one file holds them all.
    json all = read_cache();
    all[accel_key(qemu)] = {{"accel", verdict.accel == Accel::kvm ? "kvm" : "tcg"},
                            {"reason", verdict.reason}};
    if (!Lifeline::interrupted()) (void)write_file(cache_file(), all.dump(2) + "\n");
    return verdict;
}

Accel choose_accel(const std::string &qemu) { return probe_accel(qemu).accel; }

} // namespace niclab
