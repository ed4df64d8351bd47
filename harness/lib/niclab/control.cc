// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/control.h"

#include <cerrno>

#include <sys/socket.h>
#include <unistd.h>

#include "niclab/leftovers.h"
#include "niclab/lifeline.h"
#include "niclab/paths.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace niclab {
namespace {

constexpr size_t kLongestLine = 1 << 20;
constexpr int kSilenceSeconds = 5; // one that connects and says nothing must not keep the others out
constexpr const char *kEntry = "vm.json", *kSocket = "control";

/// A reader that has gone is no reason to end.
bool send_line(int fd, const json &line) {
    std::string text = line.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace) + "\n";
    for (size_t sent = 0; sent < text.size();) {
        ssize_t n = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        sent += static_cast<size_t>(n);
    }
    return true;
}

/// Lines of one connection; what is behind the last line break waits for more.
class Lines {
  public:
    explicit Lines(int fd) : fd_(fd) {}
    Result<json> next() {
        while (text_.find('\n') == std::string::npos) {
            char buffer[4096];
            ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
            if (n < 0 && errno == EINTR && !Lifeline::interrupted()) continue;
            if (n < 0) return system_error("the connection broke");
            if (n == 0) return Error{"the connection ended"};
            text_.append(buffer, static_cast<size_t>(n));
            if (text_.size() > kLongestLine) return Error{"a line without end"};
        }
        size_t end = text_.find('\n');
        json line = json::parse(text_.substr(0, end), nullptr, /*allow_exceptions=*/false);
        text_.erase(0, end + 1);
        if (!line.is_object()) return Error{"a line that is no JSON object"};
        return line;
    }

  private:
    int fd_;
    std::string text_;
};

} // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::start(const std::string &socket, Handler handler) {
    Descriptor listener = NICLAB_TRY(listen_at(socket, /*backlog=*/4));
    return std::unique_ptr<ControlServer>(new ControlServer(std::move(listener), std::move(handler)));
}

ControlServer::ControlServer(Descriptor listener, Handler handler)
    : listener_(std::move(listener)), handler_(std::move(handler)), thread_([this] { serve(); }) {}

ControlServer::~ControlServer() {
    shutdown(listener_.get(), SHUT_RDWR); // accept_from() gives nothing from now on
    thread_.join();
}

void ControlServer::serve() {
    for (;;) {
        Descriptor connection = accept_from(listener_);
        if (!connection.open()) return;
        limit_silence(connection, kSilenceSeconds);
        answer(connection.get());
    }
}

/// An order whose values are of other types than the handler expects is an order that is not understood.
Status ControlServer::carry_out(const json &order, const Say &say) const {
    try {
        return handler_(order, say);
    } catch (const json::exception &error) {
        return Error{std::string("an order that is not understood: ") + error.what()};
    }
}

void ControlServer::answer(int connection) {
    auto order = Lines(connection).next();
    auto say = [connection](const std::string &line) { send_line(connection, {{"say", line}}); };
    Status done = order.ok() ? carry_out(*order, say) : Status(order.error());
    send_line(connection, done.ok() ? json{{"done", true}} : json{{"error", done.why()}});
}

Status send_order(const std::string &socket, const json &order, const Say &say) {
    Descriptor fd = NICLAB_TRY(connect_to(socket));
    if (!send_line(fd.get(), order)) return system_error("cannot send the order");
    for (Lines lines(fd.get());;) {
        auto line = lines.next();
        if (Lifeline::interrupted()) return Lifeline::interruption();
        if (!line.ok()) return Error{"no answer to the order: " + line.why()};
        if (line->contains("error")) return Error{line->value("error", "")};
        if (line->contains("done")) return {};
        say(line->value("say", ""));
    }
}

Result<std::string> announce(const std::string &kernel, const std::string &run_folder) {
    Lifeline *lifeline = NICLAB_TRY(Lifeline::get());
    json entry = {{"pid", getpid()}, {"kernel", kernel}, {"run_folder", run_folder}};
    NICLAB_TRY(write_file(lifeline->folder() / kEntry, entry.dump() + "\n"));
    return (lifeline->folder() / kSocket).string();
}

std::vector<LiveVm> live_vms() {
    std::vector<LiveVm> live;
    auto root = state_root();
    std::error_code gone;
    for (const auto &folder : fs::directory_iterator(root.ok() ? *root : fs::path(), gone)) {
        auto text = read_file(folder.path() / kEntry);
        json entry = json::parse(text.ok() ? *text : "", nullptr, /*allow_exceptions=*/false);
        if (!entry.is_object()) continue;
        LiveVm vm{entry.value("pid", 0), entry.value("kernel", ""), entry.value("run_folder", ""),
                  folder.path() / kSocket};
        if (process_identity(vm.pid) == folder.path().filename()) live.push_back(vm);
    }
    return live;
}

} // namespace niclab
