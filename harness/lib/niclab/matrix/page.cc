// SPDX-License-Identifier: GPL-2.0-or-later
// The page's frame, its verdicts and its environment. Everything that a test or a guest wrote is escaped
// where it goes in.
#include "niclab/matrix/page.h"

#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "niclab/matrix/files.h"
#include "niclab/matrix/runner.h"

namespace fs = std::filesystem;

namespace niclab::matrix {
namespace parts {

std::string time_text(std::int64_t seconds) {
    return fmt::format("{:%F %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string log_link(const CellRow &cell, const fs::path &from, size_t line) {
    std::string path =
        (fs::path(cell.folder) / kLog).replace_extension("html").lexically_relative(from).generic_string();
    std::string address;
    // Names are ours, but the folders above them may be called anything.
    for (char c : path)
        address += std::isalnum(static_cast<unsigned char>(c)) ||
                           std::string_view("/._-+").find(c) != std::string_view::npos
                       ? std::string(1, c)
                       : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return line ? fmt::format("{}#L{}", address, line) : address;
}

namespace {

constexpr size_t kLines = 8, kTests = 12;

std::string first_lines(const std::string &text) {
    size_t end = 0;
    for (size_t i = 0; i < kLines && end < text.size(); ++i)
        end = std::min(text.find('\n', end), text.size()) + 1;
    std::string cut = text.substr(0, end);
    while (cut.ends_with('\n'))
        cut.pop_back();
    return escaped(cut) + (end < text.size() ? "\n…" : "");
}

std::string test_part(const CellRow &cell, const TestResult &test, const fs::path &from, bool fresh,
                      bool flaky) {
    return fmt::format("<div class=\"test\"><b>{}</b>{}{} <a class=\"soft\" href=\"{}\">log, line "
                       "{}</a><pre>{}</pre></div>\n",
                       escaped(test.name), fresh ? " <span class=\"tag bad\">new</span>" : "",
                       flaky ? " <span class=\"tag warn\">flaky</span>" : "", log_link(cell, from, test.line),
                       test.line, first_lines(test.message));
}

/// What the guests' kernels complained of, the first thing to look at.
std::string complaints_part(const CellRow &cell) {
    std::string text;
    auto found = cell.result.environment.find("complaints");
    if (found == cell.result.environment.end() || !found->is_array()) return text;
    for (const auto &each : *found)
        if (each.is_object())
            text += fmt::format("<div class=\"test\"><b>{}</b> <span class=\"soft\">the guest's "
                                "kernel</span><pre>{}</pre></div>\n",
                                escaped(each.value("fingerprint", "")), first_lines(each.value("text", "")));
    return text;
}

struct Marks {
    std::set<std::string> fresh, flaky;
};

std::string failed_cell(const CellRow &cell, const fs::path &from, const Marks &marks) {
    std::string text = fmt::format(
        "<article class=\"card bad\"><h3>✗ {}{}</h3><p>{} <a class=\"soft\" href=\"{}\">log</a></p>\n",
        escaped(cell.name), marks.fresh.contains(cell.name) ? " <span class=\"tag bad\">new</span>" : "",
        escaped(cell.result.why.substr(0, cell.result.why.find('\n'))), log_link(cell, from, 0));
    size_t more = cell.result.why.find('\n');
    if (more != std::string::npos)
        text += fmt::format("<pre>{}</pre>", escaped(cell.result.why.substr(more + 1)));
    text += complaints_part(cell);
    std::string rest;
    size_t shown = 0, left = 0;
    for (const TestResult &test : cell.result.tests) {
        if (test.verdict != Verdict::failed) continue;
        std::string name = cell.name + " " + test.name;
        std::string part =
            test_part(cell, test, from, marks.fresh.contains(name), marks.flaky.contains(name));
        (shown < kTests ? text : rest) += part;
        shown < kTests ? ++shown : ++left;
    }
    if (left) text += fmt::format("<details><summary>{} more tests failed</summary>{}</details>", left, rest);
    return text + "</article>\n";
}

std::string excused(const Night &night, const fs::path &from) {
    std::string text;
    for (const CellRow &cell : night.cells)
        for (const TestResult &test : cell.result.tests)
            if (test.verdict == Verdict::quarantined)
                text +=
                    fmt::format("<article class=\"card warn\"><h3>⚠ {}</h3><p>{} in <a "
                                "href=\"{}\">{}</a></p></article>\n",
                                escaped(test.name), escaped(test.message.substr(0, test.message.find('\n'))),
                                log_link(cell, from, test.line), escaped(cell.name));
    return text.empty() ? text : "<h2>Quarantined, and failed</h2>\n" + text;
}

std::string flakes_part(const std::vector<Flake> &flakes) {
    if (flakes.empty()) return {};
    std::string rows;
    for (const Flake &each : flakes)
        rows += fmt::format("<tr><th>{}</th><td class=\"text\">{}</td><td>{}</td><td class=\"n\">{}</td><td "
                            "class=\"n\">{}</td></tr>\n",
                            escaped(each.cell), escaped(each.test.empty() ? "(the cell)" : each.test),
                            escaped(each.commit.substr(0, 12)), each.passed, each.failed);
    return "<h2>Flaky: the verdict changed, the commit did not</h2>\n<div "
           "class=\"wide\"><table><thead><tr><th>cell</th><th>test</th>"
           "<th>commit</th><th class=\"n\">passed</th><th class=\"n\">failed</th></tr></thead><tbody>" +
           rows + "</tbody></table></div>\n";
}

} // namespace

std::string verdicts(const std::vector<Night> &nights, const fs::path &from) {
    const Night &night = nights.back();
    std::vector<Flake> flakes = find_flakes(nights);
    Marks marks{newly_failed(nights), {}};
    for (const Flake &each : flakes)
        marks.flaky.insert(each.cell + " " + each.test);
    std::string failures;
    for (const CellRow &cell : night.cells)
        if (cell.state == CellState::done && !cell.result.passed) failures += failed_cell(cell, from, marks);
    return (failures.empty() ? "" : "<h2>Failures</h2>\n" + failures) + excused(night, from) +
           flakes_part(flakes);
}

} // namespace parts

namespace {

std::string headline(const Night &night, const Sums &sums) {
    if (sums.failed)
        return fmt::format("<span class=\"bad\">✗ {} of {} cells failed</span>", sums.failed,
                           night.cells.size());
    if (sums.unfinished || night.cells.empty())
        return fmt::format("<span class=\"warn\">… {} of {} cells have not run</span>", sums.unfinished,
                           night.cells.size());
    return fmt::format("<span class=\"ok\">✓ all {} cells passed</span>", night.cells.size());
}

std::string header(const Night &night, const Sums &sums) {
    const NightInfo &info = night.info;
    std::string text = fmt::format(
        "<header><h1>{}</h1><p class=\"soft\">Night {}, {}, commit {}{}, {}</p>\n<ul class=\"numbers\">",
        headline(night, sums), info.id, parts::time_text(info.began),
        escaped(info.commit.empty() ? "unknown" : info.commit.substr(0, 12)),
        info.dirty ? " with changes" : "",
        info.ended ? fmt::format("ended {}", parts::time_text(info.ended)) : "not finished");
    auto number = [&](auto value, const char *what, const char *kind) {
        text +=
            fmt::format("<li><b class=\"{}\">{}</b><span class=\"soft\">{}</span></li>", kind, value, what);
    };
    number(sums.passed, "cells passed", "ok");
    number(sums.failed, "cells failed", sums.failed ? "bad" : "");
    if (sums.unfinished) number(sums.unfinished, "not run", "warn");
    number(sums.tests, "tests", "");
    number(sums.quarantined, "quarantined", sums.quarantined ? "warn" : "");
    number(sums.flaky, "flaky cells", sums.flaky ? "warn" : "");
    number(fmt::format("{:.0f}", sums.minutes), "minutes", "");
    return text + "</ul></header>\n";
}

std::string value_text(const nlohmann::json &value) {
    return value.is_string() ? value.get<std::string>()
                             : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string environment(const Night &night) {
    std::map<std::string, std::set<std::string>> values;
    for (const auto &[key, value] : night.info.environment.items())
        values[key].insert(value_text(value));
    for (const CellRow &cell : night.cells)
        for (const auto &[key, value] : cell.result.environment.items())
            if (key != "complaints") values[key].insert(value_text(value));
    std::string rows;
    for (const auto &[key, all] : values) {
        std::string list;
        for (const std::string &value : all)
            list += (list.empty() ? "" : "<br>") + escaped(value);
        rows += fmt::format("<tr><th>{}</th><td class=\"text\">{}</td></tr>\n", escaped(key), list);
    }
    return rows.empty() ? rows
                        : "<h2>Environment</h2>\n<div class=\"wide\"><table><tbody>" + rows +
                              "</tbody></table></div>\n";
}

std::string pruned(const Night &night) {
    if (night.pruned.empty()) return {};
    std::string rows;
    for (const PrunedCell &each : night.pruned)
        rows += fmt::format("<tr><th>{}</th><td class=\"text\">{}</td></tr>\n", escaped(each.name),
                            escaped(each.reason));
    return fmt::format("<h2>Not run</h2>\n<details><summary>{} cells are left out, with "
                       "reasons</summary><div class=\"wide\"><table>"
                       "<tbody>{}</tbody></table></div></details>\n",
                       night.pruned.size(), rows);
}

} // namespace

std::string report_page(const std::vector<Night> &nights, const fs::path &page) {
    fs::path from = fs::absolute(page).parent_path();
    const Night &night = nights.back();
    std::vector<Flake> flakes = find_flakes(nights);
    std::string text = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"><title>niclab, night "
        "{}</title><style>{}</style></head><body>\n",
        night.info.id, parts::style());
    text += header(night, sums_of(night, flakes));
    text += parts::verdicts(nights, from);
    text += parts::grid(night, flakes, from);
    text += parts::benches(nights);
    text += parts::trend(nights, flakes);
    text += parts::history(nights, from);
    text += parts::costs(night);
    return text + pruned(night) + environment(night) + "</body></html>\n";
}

} // namespace niclab::matrix
