// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/crash_report.h"

#include <fmt/format.h>

#include "niclab/symbols.h"
#include "niclab/trace/recent_file.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

constexpr size_t kShownComplaints = 8;
constexpr size_t kShownEvents = 8; // of each kind, of each card

} // namespace

std::vector<Complaint> explained_complaints(const VmSpec &spec, std::string_view console) {
    std::vector<Complaint> complaints = find_complaints(console);
    if (complaints.empty()) return complaints;
    Symbols symbols;
    for (const auto &[module, file] : debug_files(spec))
        symbols.add(module, file);
    symbols.explain(complaints);
    return complaints;
}

std::string crash_report(const std::vector<Complaint> &complaints, const std::vector<fs::path> &recent) {
    if (complaints.empty()) return {};
    std::string text;
    size_t shown = 0;
    for (const Complaint &complaint : complaints)
        if (shown++ < kShownComplaints) text += report(complaint) + "\n";
    if (complaints.size() > kShownComplaints)
        text += fmt::format("and {} more complaints\n", complaints.size() - kShownComplaints);
    for (const fs::path &path : recent) {
        auto last = trace::read_recent(path);
        if (last.ok())
            text += fmt::format("card {}\n{}", last->port, trace::words_of(*last, kShownEvents));
        else
            text += last.why() + "\n";
    }
    return text;
}

} // namespace niclab
