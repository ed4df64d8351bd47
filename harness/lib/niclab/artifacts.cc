// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/artifacts.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "niclab/accel.h"
#include "niclab/kernel_image.h"
#include "niclab/paths.h"
#include "niclab/process.h"
#include "niclab/progress.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

constexpr auto kRecipeLimit = std::chrono::minutes(60);

std::string last_nonempty_line(const std::string &text) {
    size_t end = text.find_last_not_of("\r\n ");
    if (end == std::string::npos) return {};
    size_t begin = text.find_last_of('\n', end);
    return text.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// Runs a recipe once per process; its answer is a path on the last line of standard output.
Result<std::string> recipe(const std::string &script, const std::vector<std::string> &arguments) {
    static std::mutex mutex;
    static std::map<std::string, std::string> known;
    std::lock_guard lock(mutex);
    std::vector<std::string> argv = {(source_root() / script).string()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    std::string key = fmt::format("{}", fmt::join(argv, " "));
    if (auto found = known.find(key); found != known.end()) return found->second;
    if (!fs::exists(argv[0])) return Error{fmt::format("the recipe {} is missing", script)};
    ProcessOptions options;
    options.limit = kRecipeLimit;
    options.on_error_line = [&](const std::string &line) { progress(fmt::format("  {}: {}", script, line)); };
    ProcessResult ended = NICLAB_TRY(run_process(argv, options));
    std::string path = last_nonempty_line(ended.out);
    if (ended.exit_code != 0)
        return Error{fmt::format("{} failed with status {}: {}", script, ended.exit_code,
                                 last_nonempty_line(ended.err))};
    if (!fs::exists(path)) return Error{fmt::format("{} names '{}', which does not exist", script, path)};
    known[key] = path;
    return path;
}

Status add_guest_programs(VmSpec &spec) {
    for (const char *program : {"xfer", "wire", "reflect", "zero_copy", "load"}) {
        fs::path path = guest_programs() / program;
        if (!fs::exists(path))
            return Error{fmt::format("{} is not built; run: cmake --build {}", path.string(),
                                     (build_root() / "host").string())};
        spec.files.push_back({path.string(), std::string("/niclab/") + program, 0755});
    }
    return {};
}

std::string first_line(const Result<ProcessResult> &result) {
    return result.ok() ? result->out.substr(0, result->out.find('\n')) : std::string();
}

} // namespace

Result<std::string> qemu_binary() {
    if (const char *own = std::getenv("NICLAB_QEMU"); own && *own) return std::string(own);
    return recipe("qemu-device/build/build", {});
}

Result<std::string> guest_image(const std::string &kernel) { return recipe("images/guest", {kernel}); }

Result<std::string> kernel_selftests(const std::string &kernel) {
    return recipe("images/selftests", {kernel});
}

Result<std::string> counting_plugin(const std::string &qemu) {
    return recipe("harness/plugin/build", {qemu});
}

Result<std::string> driver_module(const std::string &kernel) {
    return recipe("guest-driver/build", {kernel});
}

Status fill_artifacts(VmSpec &spec) {
    if (spec.qemu.empty()) spec.qemu = NICLAB_TRY(qemu_binary());
    if (spec.kernel_image.empty() || spec.initramfs.empty()) {
        fs::path image = NICLAB_TRY(guest_image(spec.kernel));
        // Whether a kernel of somebody's own can be started unpacked, only its configuration knows.
        spec.kernel_image = image / "vmlinuz";
        if (!is_kernel_folder(spec.kernel))
            spec.kernel_image = NICLAB_TRY(unpacked_kernel(image / "vmlinuz"));
        spec.initramfs = image / "initramfs.cpio";
        std::string folder = NICLAB_TRY(read_file(image / "kernel"));
        spec.kernel_folder = folder.substr(0, folder.find('\n'));
    }
    NICLAB_TRY(add_guest_programs(spec));
    if (spec.counting) {
        spec.accel = Accel::tcg;
        if (spec.counting->plugin.empty()) spec.counting->plugin = NICLAB_TRY(counting_plugin(spec.qemu));
    }
    if (!spec.accel) spec.accel = choose_accel(spec.qemu);
    return {};
}

Status add_driver(VmSpec &spec) {
    std::string module = NICLAB_TRY(driver_module(spec.kernel));
    spec.files.push_back({module, "/niclab/niclab.ko", 0644});
    return {};
}

nlohmann::json host_versions() {
    utsname host{};
    uname(&host);
    nlohmann::json versions;
    versions["host_kernel"] = host.release;
    versions["niclab"] =
        first_line(run_process({"git", "-C", source_root().string(), "describe", "--always", "--dirty"}));
    return versions;
}

} // namespace niclab
