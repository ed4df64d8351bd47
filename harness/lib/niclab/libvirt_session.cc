// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/libvirt_session.h"

#include <cstdlib>
#include <mutex>
#include <thread>

#include <libvirt/virterror.h>
#include <unistd.h>

#include "niclab/lifeline.h"
#include "niclab/paths.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

// QEMU runs as the caller, writes to plain files, and is not put into cgroups, namespaces or a security
// label: the reaper is what bounds its life.
constexpr std::string_view kSystemSettings = R"(user = "+0"
group = "+0"
)";
constexpr std::string_view kSettings = R"(stdio_handler = "file"
security_driver = "none"
cgroup_controllers = []
namespaces = []
remember_owner = 0
dynamic_ownership = 0
)";

void no_message(void *, virErrorPtr) {}

/// libvirt wants an event loop before the first connection; it serves all connections for the life of the
/// process.
Status start_event_loop() {
    static std::once_flag once;
    static bool failed = false;
    std::call_once(once, [] {
        virSetErrorFunc(nullptr, no_message);
        failed = virEventRegisterDefaultImpl() != 0;
        if (!failed)
            std::thread([] {
                while (virEventRunDefaultImpl() == 0) {
                }
            }).detach();
    });
    return failed ? Status(Error{"libvirt's event loop does not start: " + libvirt_error()}) : Status();
}

fs::path saved_capabilities() { return cache_root() / "libvirt-capabilities"; }
fs::path live_capabilities(const fs::path &root) { return root / "cache/qemu/capabilities"; }

void copy_file_in_one_step(const fs::path &from, const fs::path &to) {
    auto text = read_file(from);
    if (text.ok()) (void)write_file(to, *text);
}

/// libvirt checks on its own that what is cached still fits the emulator, the kernel and itself.
void copy_capabilities(const fs::path &from, const fs::path &to) {
    std::error_code failed;
    fs::create_directories(to, failed);
    for (const auto &entry : fs::directory_iterator(from, failed)) {
        if (entry.path().extension() != ".xml") continue;
        fs::path target = to / entry.path().filename();
        if (read_file(entry.path()).ok() &&
            (!fs::exists(target) || *read_file(target) != *read_file(entry.path())))
            copy_file_in_one_step(entry.path(), target);
    }
}

} // namespace

std::string libvirt_error() {
    const char *message = virGetLastErrorMessage();
    return message ? message : "unknown error";
}

Result<std::shared_ptr<LibvirtSession>> LibvirtSession::get() {
    static std::mutex mutex;
    static std::weak_ptr<LibvirtSession> ours;
    std::lock_guard lock(mutex);
    if (auto open_one = ours.lock()) return open_one;
    auto opened = NICLAB_TRY(open());
    ours = opened;
    return opened;
}

Result<std::shared_ptr<LibvirtSession>> LibvirtSession::open() {
    Lifeline *lifeline = NICLAB_TRY(Lifeline::get());
    fs::path root = lifeline->folder() / "libvirt";
    std::error_code failed;
    fs::create_directories(root / "etc", failed);
    if (failed) return Error{"cannot make " + root.string() + ": " + failed.message()};
    std::string settings(geteuid() == 0 ? kSystemSettings : "");
    NICLAB_TRY(write_file(root / "etc/qemu.conf", settings.append(kSettings)));
    copy_capabilities(saved_capabilities(), live_capabilities(root));
    setenv("LIBVIRT_LOG_OUTPUTS", ("3:file:" + (root / "libvirt.log").string()).c_str(), /*overwrite=*/0);
    NICLAB_TRY(start_event_loop());
    virConnectPtr connection = virConnectOpen(("qemu:///embed?root=" + root.string()).c_str());
    if (!connection) return Error{"libvirt's embedded QEMU driver does not start: " + libvirt_error()};
    return std::shared_ptr<LibvirtSession>(new LibvirtSession(root, connection));
}

fs::path LibvirtSession::qemu_log(const std::string &domain) const {
    return root_ / "log/qemu" / (domain + ".log");
}

fs::path LibvirtSession::pid_file(const std::string &domain) const {
    return root_ / "run/qemu" / (domain + ".pid");
}

void LibvirtSession::save_capabilities() const {
    copy_capabilities(live_capabilities(root_), saved_capabilities());
}

LibvirtSession::~LibvirtSession() { virConnectClose(connection_); }

} // namespace niclab
