// SPDX-License-Identifier: GPL-2.0-or-later
// Prints what the cards of a running VM do, as they do it, or what was recorded before.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "commands.h"
#include "live.h"
#include "niclab/deadline.h"
#include "niclab/lifeline.h"
#include "niclab/progress.h"
#include "niclab/trace/pcapng.h"
#include "niclab/trace/words.h"
#include "pause.h"

namespace niclab::cli {
namespace {

using trace::Event;
using trace::RecordFile;

constexpr Milliseconds kLook{200};

class Printer {
  public:
    Printer(const TraceOptions &options, const std::vector<RecordFile> &files)
        : chosen_(options.filter.begin(), options.filter.end()), files_(files) {}

    void print(const std::vector<Event> &events) const {
        for (const Event &event : events) {
            std::string kind(trace::kind_of(event));
            if (!chosen_.empty() && !chosen_.contains(kind)) continue;
            std::string line =
                fmt::format("{:>14.6f} {:<5} {:<10}{}\n", static_cast<double>(event.guest_ns) / 1e9,
                            files_[event.port].port(), kind, trace::words_of(event));
            std::fputs(line.c_str(), stdout);
        }
        std::fflush(stdout);
    }

  private:
    std::set<std::string> chosen_;
    const std::vector<RecordFile> &files_;
};

Result<std::vector<RecordFile>> open_all(const std::vector<std::string> &paths) {
    std::vector<RecordFile> files;
    files.reserve(paths.size());
    for (const std::string &path : paths)
        files.push_back(NICLAB_TRY(RecordFile::open(path)));
    return files;
}

Status save_frames(const TraceOptions &options, const std::vector<RecordFile> &files,
                   const std::vector<Event> &events) {
    if (options.pcap.empty()) return {};
    size_t frames = NICLAB_TRY(trace::write_pcapng(options.pcap, files, events));
    progress(fmt::format("{} frames written to {}", frames, options.pcap));
    return {};
}

void say_how_it_ends(const RecordFile &file) {
    if (file.full()) progress(fmt::format("the record of {} reached its limit and ends early", file.port()));
    if (file.cut_off()) progress(fmt::format("the record of {} is cut off within an event", file.port()));
}

Status show_records(const TraceOptions &options) {
    auto files = NICLAB_TRY(open_all(options.read));
    auto events = NICLAB_TRY(trace::read_all(files));
    Printer(options, files).print(events);
    for (const RecordFile &file : files)
        say_how_it_ends(file);
    return save_frames(options, files, events);
}

/// Prints what has come since the last look; keeps it only for the frames' file.
Status follow(const TraceOptions &options, std::vector<RecordFile> &files, std::vector<Event> &kept,
              const Printer &printer) {
    auto events = NICLAB_TRY(trace::read_all(files));
    printer.print(events);
    if (!options.pcap.empty()) std::move(events.begin(), events.end(), std::back_inserter(kept));
    return {};
}

Status watch(const TraceOptions &options) {
    (void)NICLAB_TRY(Lifeline::get()); // Ctrl-C ends the watch in an orderly way
    LiveVm vm = NICLAB_TRY(choose_vm(options.vm));
    auto paths = NICLAB_TRY(ask(vm, {{"order", "record"}}));
    auto files = NICLAB_TRY(open_all(paths));
    Printer printer(options, files);
    std::vector<Event> kept;
    Deadline deadline = Deadline::in(std::chrono::seconds(options.seconds));
    Status followed;
    while (followed.ok() && !Lifeline::interrupted() && (options.seconds == 0 || !deadline.expired())) {
        (void)pause_for(kLook);
        followed = follow(options, files, kept, printer);
    }
    auto stopped = ask(vm, {{"order", "stop-record"}});
    if (followed.ok()) followed = follow(options, files, kept, printer);
    for (const RecordFile &file : files)
        say_how_it_ends(file);
    for (const std::string &path : paths)
        progress("recorded in " + path);
    if (!followed.ok()) return followed;
    NICLAB_TRY(save_frames(options, files, kept));
    // Ctrl-C is how a watch ends, so the order that it cut short is no failure.
    return stopped.ok() || Lifeline::interrupted() ? Status() : Status(stopped.error());
}

} // namespace

int trace(const TraceOptions &options) {
    Status done = options.read.empty() ? watch(options) : show_records(options);
    return done.ok() ? 0 : failure(done.why());
}

} // namespace niclab::cli
