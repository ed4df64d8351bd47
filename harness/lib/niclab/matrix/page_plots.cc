// SPDX-License-Identifier: GPL-2.0-or-later
// The page's grid, bars and rows of squares. Widths in SVG are shares of what there is, so that text keeps
// its size on a phone.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "niclab/bench/metrics.h"
#include "niclab/matrix/files.h"
#include "niclab/matrix/page.h"

namespace fs = std::filesystem;

namespace niclab::matrix::parts {
namespace {

constexpr const char *kNoMachine = "any machine";

struct Place {
    std::string row, column;
};

/// Rows say what runs, columns what the vIOMMU does.
Place place_of(const std::string &name) {
    auto cell = cell_named(name);
    if (!cell.ok()) return {name, kNoMachine};
    Cell row = *cell;
    std::string column = row.at(Axis::iommu);
    if (!row.at(Axis::mode).empty()) column += " " + row.at(Axis::mode);
    row.at(Axis::iommu).clear();
    row.at(Axis::mode).clear();
    return {row.name(), column.empty() ? kNoMachine : column == "none" ? "no vIOMMU" : column};
}

size_t failures(const CellRow &cell) {
    return static_cast<size_t>(
        std::count_if(cell.result.tests.begin(), cell.result.tests.end(),
                      [](const TestResult &test) { return test.verdict == Verdict::failed; }));
}

std::string grid_cell(const CellRow &cell, bool flaky, const fs::path &from) {
    if (cell.state != CellState::done) return "<td class=\"none\">… not run</td>";
    size_t failed = failures(cell), tests = cell.result.tests.size();
    std::string words = cell.result.passed ? fmt::format("✓ {}", tests)
                        : failed           ? fmt::format("✗ {} of {}", failed, tests)
                                           : "✗";
    const char *kind = !cell.result.passed ? "bad" : flaky ? "warn" : "ok";
    return fmt::format("<td class=\"{}\"><a href=\"{}\">{}</a>{} <small>{:.1f} min</small></td>", kind,
                       log_link(cell, from, 0), words, flaky ? " flaky" : "", cell.result.seconds / 60);
}

void add_new(std::vector<std::string> &list, const std::string &value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

std::string number_text(double value) {
    return value >= 1000 ? fmt::format("{:.0f}", value)
           : value >= 10 ? fmt::format("{:.1f}", value)
                         : fmt::format("{:.3f}", value);
}

/// A bar with its number behind it; the longest leaves room for that on a phone.
std::string bar(double value, double largest, const char *kind, int y) {
    double width = largest > 0 ? std::max(0.5, value / largest * 80) : 0;
    return fmt::format("<rect class=\"{}\" x=\"0\" y=\"{}\" width=\"{:.1f}%\" height=\"16\" rx=\"2\"/>"
                       "<text x=\"{:.1f}%\" y=\"{}\" dx=\"6\">{}</text>",
                       kind, y, width, width, y + 12, number_text(value));
}

std::string change_text(const Measured &row) {
    if (row.before == 0) return "<span class=\"soft\">first measured</span>";
    double share = (row.now - row.before) / row.before * 100;
    if (std::abs(share) < 0.05) return "<span class=\"soft\">as before</span>";
    return fmt::format("<span class=\"{}\">{} {:.1f} %</span>", share > 0 ? "bad" : "ok",
                       share > 0 ? "▲" : "▼", std::abs(share));
}

/// One night of the trend: passed at the bottom, then what is to be looked at.
std::string column(const Night &night, const Sums &sums, double left, double width, unsigned most,
                   int height) {
    std::string text = fmt::format(
        "<g><title>night {}, {}: {} passed, {} failed, {} flaky, {:.0f} min</title>", night.info.id,
        time_text(night.info.began), sums.passed, sums.failed, sums.flaky, sums.minutes);
    double at = height;
    auto part = [&](unsigned count, const char *kind) {
        double size = most ? static_cast<double>(count) * height / most : 0;
        at -= size;
        if (count)
            text += fmt::format(
                "<rect class=\"{}\" x=\"{:.2f}%\" y=\"{:.1f}\" width=\"{:.2f}%\" height=\"{:.1f}\"/>", kind,
                left, at, width, size);
    };
    unsigned flaky = std::min(sums.flaky, sums.passed);
    part(sums.passed - flaky, "ok");
    part(flaky, "warn");
    part(sums.failed, "bad");
    part(sums.unfinished, "old");
    return text +
           fmt::format("<text class=\"soft\" x=\"{:.2f}%\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
                       left + width / 2, height + 15, night.info.id);
}

std::string square(const CellRow *cell, std::int64_t night, const fs::path &from) {
    if (!cell || cell->state != CellState::done) return "<td class=\"none\">·</td>";
    return fmt::format("<td class=\"{}\"><a href=\"{}\" title=\"night {}: {}\">{}</a></td>",
                       cell->result.passed ? "ok" : "bad", log_link(*cell, from, 0), night,
                       escaped(cell->result.passed ? "passed" : cell->result.why.substr(0, 200)),
                       cell->result.passed ? "✓" : "✗");
}

} // namespace

std::string grid(const Night &night, const std::vector<Flake> &flakes, const fs::path &from) {
    std::vector<std::string> rows, columns;
    std::map<std::pair<std::string, std::string>, std::string> cells;
    for (const CellRow &cell : night.cells) {
        Place place = place_of(cell.name);
        add_new(rows, place.row);
        add_new(columns, place.column);
        bool flaky = std::any_of(flakes.begin(), flakes.end(), [&](const Flake &each) {
            return each.cell == cell.name && each.commit == night.info.commit;
        });
        cells[{place.row, place.column}] = grid_cell(cell, flaky, from);
    }
    // Who is in the matrix but pruned is told from who is not in it at all.
    for (const PrunedCell &each : night.pruned) {
        Place place = place_of(each.name);
        cells.try_emplace({place.row, place.column},
                          fmt::format("<td class=\"none\" title=\"{}\">pruned</td>", escaped(each.reason)));
    }
    std::string text =
        "<h2>Matrix</h2>\n<div class=\"wide\"><table><thead><tr><th>suite, kernel, driver, card</th>";
    for (const std::string &column : columns)
        text += fmt::format("<th>{}</th>", escaped(column));
    text += "</tr></thead><tbody>\n";
    for (const std::string &row : rows) {
        text += fmt::format("<tr><th>{}</th>", escaped(row));
        for (const std::string &column : columns) {
            auto found = cells.find({row, column});
            text += found == cells.end() ? "<td></td>" : found->second;
        }
        text += "</tr>\n";
    }
    return text + "</tbody></table></div>\n";
}

std::string benches(const std::vector<Night> &nights) {
    std::vector<Measured> rows = side_by_side(nights, bench::kInstructions);
    if (rows.empty()) return {};
    std::map<std::string, double> largest;
    for (const Measured &row : rows)
        largest[row.scenario] = std::max({largest[row.scenario], row.now, row.before});
    std::vector<std::string> scenarios;
    for (const Measured &row : rows)
        add_new(scenarios, row.scenario);
    std::string text =
        "<h2>Benches: instructions of the guest per unit</h2>\n<p class=\"soft key\"><i "
        "style=\"background:var(--old)\"></i>the night that "
        "measured it before<i style=\"background:var(--new)\"></i>this night</p>\n<div class=\"bars\">\n";
    for (const std::string &scenario : scenarios) {
        text += fmt::format("<section class=\"card\"><h3>{}</h3>\n", escaped(scenario));
        for (const Measured &row : rows) {
            if (row.scenario != scenario) continue;
            int y = row.before > 0 ? 18 : 0;
            text += fmt::format("<p class=\"soft\">{} {}</p><svg height=\"{}\" role=\"img\" aria-label=\"{} "
                                "before, {} now\">{}{}</svg>\n",
                                escaped(row.cell), change_text(row), y + 18, number_text(row.before),
                                number_text(row.now),
                                row.before > 0 ? bar(row.before, largest[scenario], "old", 0) : "",
                                bar(row.now, largest[scenario], "new", y));
        }
        text += "</section>\n";
    }
    return text + "</div>\n";
}

std::string trend(const std::vector<Night> &nights, const std::vector<Flake> &flakes) {
    if (nights.size() < 2) return {};
    constexpr int kHeight = 110;
    unsigned most = 0;
    double dearest = 0;
    std::vector<Sums> sums;
    for (const Night &night : nights) {
        sums.push_back(sums_of(night, flakes));
        most = std::max(most, static_cast<unsigned>(night.cells.size()));
        dearest = std::max(dearest, sums.back().minutes);
    }
    double step = 100.0 / static_cast<double>(nights.size()), width = std::min(step * 0.8, 12.0);
    std::string cells, minutes;
    for (size_t i = 0; i < nights.size(); ++i) {
        double left = step * static_cast<double>(i) + (step - width) / 2;
        cells += column(nights[i], sums[i], left, width, most, kHeight);
        double size = dearest > 0 ? sums[i].minutes / dearest * 60 : 0;
        minutes += fmt::format(
            "<rect class=\"new\" x=\"{:.2f}%\" y=\"{:.1f}\" width=\"{:.2f}%\" height=\"{:.1f}\"/>"
            "<text class=\"soft\" x=\"{:.2f}%\" y=\"{:.1f}\" text-anchor=\"middle\">{:.0f}</text>",
            left, 80 - size, width, size, left + width / 2, 75 - size, sums[i].minutes);
    }
    return fmt::format(
        "<h2>Trend</h2>\n<div class=\"card\"><p class=\"soft key\">Cells by night: <i "
        "style=\"background:var(--ok);margin-left:6px\"></i>passed"
        "<i style=\"background:var(--warn)\"></i>flaky<i style=\"background:var(--bad)\"></i>failed<i "
        "style=\"background:var(--old)\"></i>not run</p>"
        "<svg height=\"{}\" role=\"img\" aria-label=\"cells by night\">{}</svg><p class=\"soft\">Minutes by "
        "night</p>"
        "<svg height=\"84\" role=\"img\" aria-label=\"minutes by night\">{}</svg></div>\n",
        kHeight + 20, cells, minutes);
}

std::string history(const std::vector<Night> &nights, const fs::path &from) {
    if (nights.size() < 2) return {};
    constexpr size_t kNights = 14;
    size_t first = nights.size() > kNights ? nights.size() - kNights : 0;
    std::string text = "<h2>Cells over nights</h2>\n<div class=\"wide\"><table><thead><tr><th>cell</th>";
    for (size_t i = first; i < nights.size(); ++i)
        text += fmt::format("<th title=\"{}, {}\">{}</th>", time_text(nights[i].info.began),
                            escaped(nights[i].info.commit.substr(0, 12)), nights[i].info.id);
    text += "</tr></thead><tbody>\n";
    for (const CellRow &row : nights.back().cells) {
        text += fmt::format("<tr><th>{}</th>", escaped(row.name));
        for (size_t i = first; i < nights.size(); ++i)
            text += square(find_cell(nights[i], row.name), nights[i].info.id, from);
        text += "</tr>\n";
    }
    return text + "</tbody></table></div>\n";
}

std::string costs(const Night &night) {
    std::string rows;
    double expected = 0, seconds = 0;
    for (const CellRow &cell : night.cells) {
        expected += cell.expected_minutes;
        seconds += cell.result.seconds;
        rows += fmt::format("<tr><th>{}</th><td class=\"n\">{:.1f}</td><td class=\"n\">{}</td></tr>\n",
                            escaped(cell.name), cell.expected_minutes,
                            cell.state == CellState::done ? fmt::format("{:.1f}", cell.result.seconds / 60)
                                                          : "–");
    }
    return fmt::format(
        "<h2>Cost</h2>\n<div class=\"wide\"><table><thead><tr><th>cell</th><th class=\"n\">expected, "
        "min</th><th class=\"n\">took, "
        "min</th></tr></thead><tbody>{}"
        "<tr><th>all</th><td class=\"n\">{:.1f}</td><td class=\"n\">{:.1f}</td></tr></tbody></table></div>\n",
        rows, expected, seconds / 60);
}

} // namespace niclab::matrix::parts
