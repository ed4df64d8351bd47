// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/vm.h"

#include <atomic>
#include <fstream>
#include <mutex>
#include <regex>
#include <thread>

#include <fmt/format.h>
#include <libvirt/libvirt-qemu.h>
#include <unistd.h>

#include "niclab/artifacts.h"
#include "niclab/base64.h"
#include "niclab/boot_failure.h"
#include "niclab/console_log.h"
#include "niclab/crash_report.h"
#include "niclab/domain_xml.h"
#include "niclab/initramfs.h"
#include "niclab/libvirt_session.h"
#include "niclab/lifeline.h"
#include "niclab/paths.h"
#include "niclab/space.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace niclab {
namespace {

constexpr Milliseconds kFirstPause{10};
constexpr Milliseconds kLongestPause{150};
constexpr int kAgentReplySeconds = 30;
constexpr int kAgentProbeSeconds = 1;
// A guest that boots says something at least so often; an emulated one on a busy machine is much slower.
constexpr Milliseconds kSilence{25'000}, kEmulatedSilence{90'000};
constexpr Milliseconds kLastWords{3000}; // of a kernel after the line that tells its panic
constexpr size_t kFileChunk = 32 << 10;  // an emulated agent takes its time for each byte

std::string next_name() {
    static std::atomic<unsigned> serial{0};
    return fmt::format("niclab-{}-{}", getpid(), ++serial);
}

std::string last_line(const fs::path &path) {
    std::string last;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);)
        if (!line.empty()) last = line;
    return last;
}

/// QEMU's own words out of libvirt's message, without the time stamp.
std::string qemu_words(const std::string &message) {
    static const std::regex around("^internal error: [^:]*monitor: |^[0-9T:.-]+Z [^ ]*: (error: )?");
    std::string words = std::regex_replace(message.substr(0, message.find('\n')), around, "");
    return std::regex_replace(words, around, "");
}

std::string explain_start_failure(const std::string &message, const VmSpec &spec) {
    for (const NicSpec &nic : spec.nics)
        if (message.find(fmt::format("'{}' is not a valid device model name", nic.model)) !=
            std::string::npos)
            return fmt::format(
                "the QEMU at {} has no '{}' card in it; the one that has is built by qemu-device/build/build",
                spec.qemu, nic.model);
    return "QEMU does not start: " + qemu_words(message);
}

/// Whether a console that grows has not done so for long.
class Silence {
  public:
    Silence(const ConsoleLog &log, Milliseconds limit)
        : log_(log), limit_(limit), end_(Deadline::in(limit)) {}
    bool too_long() {
        if (size_t now = log_.size(); now != size_) {
            size_ = now;
            end_ = Deadline::in(limit_);
        }
        return end_.expired();
    }

  private:
    const ConsoleLog &log_;
    Milliseconds limit_;
    size_t size_ = 0;
    Deadline end_;
};

} // namespace

struct Vm::Impl {
    VmSpec spec;
    RunFolder run;
    VmFiles files;
    std::shared_ptr<LibvirtSession> session;
    virDomainPtr domain = nullptr;
    ConsoleLog console;
    std::mutex agent_mutex; // threads of ours take turns: libvirt would let them time out

    Impl(VmSpec wanted, const RunFolder &folder)
        : spec(std::move(wanted)), run(folder), files(name_files(folder)), console(files.console_log) {}
    ~Impl() { end(); }

    static VmFiles name_files(const RunFolder &folder);
    Status prepare();
    Status start();
    Status wait_for_agent(Milliseconds limit);
    Status until(const std::string &what, Milliseconds limit, const std::function<Result<bool>()> &ready);
    Status poll(const std::string &what, Milliseconds limit, const std::function<Result<bool>()> &ready);
    Error gone(const std::string &what) const;
    Error panicked(const std::string &what, const std::string &line) const;
    Error did_not_boot(const std::string &why) const;
    std::string crash_report(size_t from) const;
    void name_recent_files();
    bool alive() const { return domain && virDomainIsActive(domain) == 1; }
    Result<json> agent(const std::string &command, const json &arguments, int seconds);
    void write_versions() const;
    void end();
};

VmFiles Vm::Impl::name_files(const RunFolder &folder) {
    // Several VMs of one run get numbered logs; the first has the plain names.
    VmFiles files;
    files.name = next_name();
    std::string suffix;
    for (int n = 2; fs::exists(folder.file("domain" + suffix + ".xml")); ++n)
        suffix = "-" + std::to_string(n);
    files.suffix = suffix;
    files.initramfs = folder.file("initramfs" + suffix + ".cpio");
    files.console_log = folder.file("console" + suffix + ".log");
    files.trace_log = folder.file("trace" + suffix + ".log");
    return files;
}

Status Vm::Impl::prepare() {
    NICLAB_TRY(validate(spec));
    Lifeline *lifeline = NICLAB_TRY(Lifeline::get());
    NICLAB_TRY(require_space(run.path(), kRunBytes, "a run"));
    NICLAB_TRY(require_space(lifeline->folder(), kStateBytes, "a machine's sockets"));
    NICLAB_TRY(fill_artifacts(spec));
    files.agent_socket = lifeline->folder() / (files.name + ".agent");
    files.gdb_socket = lifeline->folder() / (files.name + ".gdb");
    name_recent_files();
    NICLAB_TRY(write_initramfs(spec, files.initramfs));
    session = NICLAB_TRY(LibvirtSession::get());
    std::string xml = domain_xml(spec, files);
    NICLAB_TRY(run.write("domain" + files.suffix + ".xml", xml));
    return run.write(files.console_log.filename(), "");
}

void Vm::Impl::name_recent_files() {
    if (spec.counting) return; // what the card costs is counted there
    for (size_t i = 0; i < spec.nics.size(); ++i)
        files.recent.push_back(spec.nics[i].model == "connectx"
                                   ? run.file(fmt::format("nic{}{}.recent", i, files.suffix))
                                   : fs::path());
}

Status Vm::Impl::start() {
    std::string xml = NICLAB_TRY(read_file(run.file("domain" + files.suffix + ".xml")));
    domain = virDomainCreateXML(session->connection(), xml.c_str(), 0);
    if (!domain) return Error{explain_start_failure(libvirt_error(), spec)};
    session->save_capabilities();
    write_versions();
    return {};
}

Status Vm::Impl::wait_for_agent(Milliseconds limit) {
    Silence silence(console, spec.accel == Accel::kvm ? kSilence : kEmulatedSilence);
    Status up = until("the guest agent to answer", limit, [&]() -> Result<bool> {
        if (agent("guest-ping", nullptr, kAgentProbeSeconds).ok()) return true;
        if (silence.too_long()) return Error{"the console has been silent for too long"};
        return false;
    });
    if (up.ok() || Lifeline::interrupted()) return up;
    return did_not_boot(up.why());
}

Error Vm::Impl::did_not_boot(const std::string &why) const {
    BootVerdict verdict = judge_boot(console.text(), alive());
    std::string text = fmt::format("boot failure ({}): {}\n{}", name(verdict.kind), verdict.sentence, why);
    (void)run.write("boot-failure" + files.suffix + ".txt",
                    fmt::format("{}\n\nthe console's last lines:\n{}\n", text, verdict.last_lines));
    return Error{text};
}

Error Vm::Impl::panicked(const std::string &what, const std::string &line) const {
    for (Deadline end = Deadline::in(kLastWords); alive() && !end.expired();)
        std::this_thread::sleep_for(kFirstPause);
    return Error{
        fmt::format("{}the guest kernel panicked while we waited for {}: {}", crash_report(0), what, line)};
}

std::string Vm::Impl::crash_report(size_t from) const {
    std::vector<fs::path> recent;
    for (const fs::path &file : files.recent)
        if (!file.empty()) recent.push_back(file);
    return niclab::crash_report(explained_complaints(spec, console.text(from)), recent);
}

Status Vm::Impl::until(const std::string &what, Milliseconds limit,
                       const std::function<Result<bool>()> &ready) {
    Status status = poll(what, limit, ready);
    if (status.ok() || Lifeline::interrupted()) return status;
    return with_space_looked_at(status.why(), {run.path(), files.agent_socket.parent_path()});
}

Status Vm::Impl::poll(const std::string &what, Milliseconds limit,
                      const std::function<Result<bool>()> &ready) {
    Deadline deadline = Deadline::in(limit);
    for (Milliseconds pause = kFirstPause;; pause = std::min(pause * 3 / 2, kLongestPause)) {
        if (Lifeline::interrupted()) return Lifeline::interruption();
        bool was_alive = alive();
        auto answer = ready();
        if (answer.ok() && *answer) return {};
        if (auto line = console.find_panic()) return panicked(what, *line);
        if (!was_alive) return gone(what);
        if (!answer.ok()) return answer.error();
        if (deadline.expired())
            return Error{
                fmt::format("gave up after {:.0f} s of waiting for {}; the console's last line is '{}'",
                            static_cast<double>(limit.count()) / 1000, what, console.last_line())};
        std::this_thread::sleep_for(std::min(pause, std::max(deadline.left(), Milliseconds(1))));
    }
}

Error Vm::Impl::gone(const std::string &what) const {
    return Error{
        fmt::format("QEMU ended while we waited for {}; its log ends with '{}', the console with '{}'", what,
                    last_line(session->qemu_log(files.name)), console.last_line())};
}

Result<json> Vm::Impl::agent(const std::string &command, const json &arguments, int seconds) {
    json request = {{"execute", command}};
    if (!arguments.is_null()) request["arguments"] = arguments;
    std::string text = request.dump();
    std::lock_guard turn(agent_mutex);
    char *reply = virDomainQemuAgentCommand(domain, text.c_str(), seconds, 0);
    std::string log = "agent" + files.suffix + ".log";
    constexpr size_t kShown = 4096; // of a request: files travel as text
    text = text.substr(0, kShown);
    if (!reply) {
        run.log(log, text + " failed: " + libvirt_error());
        return Error{"the guest agent does not do '" + command + "': " + libvirt_error()};
    }
    run.log(log, text + " -> " + reply);
    json answer = json::parse(reply, nullptr, /*allow_exceptions=*/false);
    std::free(reply);
    if (!answer.is_object() || !answer.contains("return"))
        return Error{"the guest agent's answer to '" + command + "' is not understood"};
    return answer["return"];
}

void Vm::Impl::write_versions() const {
    unsigned long libvirt = 0;
    virConnectGetLibVersion(session->connection(), &libvirt);
    json versions = host_versions();
    versions["libvirt"] = fmt::format("{}.{}.{}", libvirt / 1000000, libvirt / 1000 % 1000, libvirt % 1000);
    versions["qemu"] = spec.qemu;
    versions["kernel"] = spec.kernel_image;
    versions["initramfs"] = spec.initramfs;
    versions["acceleration"] = spec.accel == Accel::kvm ? "kvm" : "tcg";
    versions["kernel_command_line"] = kernel_command_line(spec);
    (void)run.write_json("versions" + files.suffix + ".json", versions);
    // What the guest's image is made of stands beside it.
    if (auto manifest = read_file(fs::path(spec.initramfs).parent_path() / "manifest.txt"); manifest.ok())
        (void)run.write("manifest" + files.suffix + ".txt", *manifest);
}

void Vm::Impl::end() {
    if (domain) {
        virDomainDestroy(domain);
        virDomainFree(domain);
        domain = nullptr;
    }
    std::error_code failed;
    if (session)
        fs::copy_file(session->qemu_log(files.name), run.file("qemu" + files.suffix + ".log"),
                      fs::copy_options::overwrite_existing, failed);
    fs::remove(files.initramfs, failed);
    if (auto complaints = explained_complaints(spec, console.text()); !complaints.empty())
        (void)run.write_json("complaints" + files.suffix + ".json", to_json(complaints));
}

Vm::Vm(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Vm::Vm(Vm &&) noexcept = default;
Vm &Vm::operator=(Vm &&) noexcept = default;
Vm::~Vm() = default;

Result<Vm> Vm::launch(VmSpec spec, const RunFolder &run) {
    auto impl = std::make_unique<Impl>(std::move(spec), run);
    NICLAB_TRY(impl->prepare());
    NICLAB_TRY(impl->start());
    return Vm(std::move(impl));
}

Result<Vm> Vm::boot(VmSpec spec, const RunFolder &run, Milliseconds limit) {
    Vm vm = NICLAB_TRY(launch(std::move(spec), run));
    NICLAB_TRY(vm.impl_->wait_for_agent(limit));
    return vm;
}

const VmSpec &Vm::spec() const { return impl_->spec; }
const RunFolder &Vm::run_folder() const { return impl_->run; }
bool Vm::alive() const { return impl_->alive(); }

Result<int> Vm::qemu_pid() const {
    std::string digits = NICLAB_TRY(read_file(impl_->session->pid_file(impl_->files.name)));
    return std::atoi(digits.c_str());
}

Result<CommandResult> Vm::run(const std::vector<std::string> &argv, Milliseconds limit,
                              const std::string &input) {
    int handle = NICLAB_TRY(start(argv, input));
    return wait(handle, fmt::format("'{}' to end", fmt::join(argv, " ")), limit);
}

Result<CommandResult> Vm::script(const std::string &text, Milliseconds limit) {
    int handle = NICLAB_TRY(start({"/bin/sh", "-c", text}));
    return wait(handle, fmt::format("the script '{}' to end", text.substr(0, text.find('\n'))), limit);
}

Result<int> Vm::start(const std::vector<std::string> &argv, const std::string &input) {
    json arguments = {
        {"path", argv.at(0)}, {"arg", std::vector(argv.begin() + 1, argv.end())}, {"capture-output", true}};
    if (!input.empty()) arguments["input-data"] = base64_encode(input);
    if (!alive()) return impl_->gone("'" + argv[0] + "' to start");
    json started = NICLAB_TRY(impl_->agent("guest-exec", arguments, kAgentReplySeconds));
    return started.value("pid", 0);
}

Result<CommandResult> Vm::wait(int handle, const std::string &what, Milliseconds limit) {
    json status;
    auto ended = [&]() -> Result<bool> {
        status = NICLAB_TRY(impl_->agent("guest-exec-status", {{"pid", handle}}, kAgentReplySeconds));
        return status.value("exited", false);
    };
    NICLAB_TRY(until(what, limit, ended));
    CommandResult result;
    result.exit_code =
        status.contains("signal") ? 128 + status.value("signal", 0) : status.value("exitcode", -1);
    result.out = base64_decode(status.value("out-data", ""));
    result.err = base64_decode(status.value("err-data", ""));
    return result;
}

Status Vm::put_file(const std::string &host_path, const std::string &guest_path) {
    std::string bytes = NICLAB_TRY(read_file(host_path));
    json handle = NICLAB_TRY(
        impl_->agent("guest-file-open", {{"path", guest_path}, {"mode", "w"}}, kAgentReplySeconds));
    Status written;
    for (size_t at = 0; at < bytes.size() && written.ok(); at += kFileChunk) {
        std::string chunk = base64_encode(std::string_view(bytes).substr(at, kFileChunk));
        auto answer =
            impl_->agent("guest-file-write", {{"handle", handle}, {"buf-b64", chunk}}, kAgentReplySeconds);
        if (!answer.ok()) written = answer.error();
    }
    auto closed = impl_->agent("guest-file-close", {{"handle", handle}}, kAgentReplySeconds);
    return written.ok() && !closed.ok() ? Status(closed.error()) : written;
}

Status Vm::until(const std::string &what, Milliseconds limit, const std::function<Result<bool>()> &ready) {
    return impl_->until(what, limit, ready);
}

Result<json> Vm::qmp(const std::string &command, const json &arguments) {
    json request = {{"execute", command}};
    if (!arguments.is_null()) request["arguments"] = arguments;
    std::string text = request.dump();
    char *reply = nullptr;
    std::string log = "qmp" + impl_->files.suffix + ".log";
    if (virDomainQemuMonitorCommand(impl_->domain, text.c_str(), &reply, 0) != 0) {
        impl_->run.log(log, text + " failed: " + libvirt_error());
        return Error{"QEMU's monitor does not do '" + command + "': " + libvirt_error()};
    }
    impl_->run.log(log, text + " -> " + reply);
    json answer = json::parse(reply, nullptr, /*allow_exceptions=*/false);
    std::free(reply);
    if (answer.is_object() && answer.contains("error"))
        return Error{"QEMU's monitor does not do '" + command +
                     "': " + answer["error"].value("desc", "no reason given")};
    if (!answer.is_object() || !answer.contains("return"))
        return Error{"QEMU's answer to '" + command + "' is not understood"};
    return answer["return"];
}

Result<Counters> Vm::card_counters(size_t index) {
    json held = NICLAB_TRY(qmp(
        "qom-get", {{"path", fmt::format("/machine/peripheral/nic{}", index)}, {"property", "counters"}}));
    Counters counters;
    for (const auto &[key, value] : held.items())
        if (value.is_number_unsigned()) counters[key] = value.get<std::uint64_t>();
    return counters;
}

std::string Vm::console(size_t from) const { return impl_->console.text(from); }
size_t Vm::console_size() const { return impl_->console.size(); }
std::vector<Complaint> Vm::kernel_complaints(size_t from) const {
    return explained_complaints(spec(), console(from));
}
std::string Vm::crash_report(size_t from) const { return impl_->crash_report(from); }

Result<fs::path> Vm::gdb_socket() const {
    if (!impl_->spec.gdb) return Error{"this machine was started without a place for a debugger"};
    return impl_->files.gdb_socket;
}

Result<std::string> Vm::console_pty() const {
    char *xml = virDomainGetXMLDesc(impl_->domain, 0);
    if (!xml) return Error{"libvirt does not describe the machine: " + libvirt_error()};
    std::string text = xml;
    std::free(xml);
    constexpr std::string_view kMark = "<serial type='pty'>";
    constexpr std::string_view kPath = "<source path='";
    size_t serial = text.find(kMark);
    size_t path = serial == std::string::npos ? serial : text.find(kPath, serial);
    if (path == std::string::npos) return Error{"the machine has no terminal on its serial line"};
    path += kPath.size();
    return text.substr(path, text.find('\'', path) - path);
}

} // namespace niclab
