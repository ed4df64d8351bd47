// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/model/describe.h"

#include <algorithm>

#include <fmt/format.h>

#include "niclab/model/card.h"
#include "niclab/model/tables.h"

namespace niclab::model {
namespace {

Document syndrome_row(const SyndromeRow &row) {
    return {{"syndrome", hex(row.number, 6)},
            {"where", row.subject},
            {"cause", row.cause},
            {"status", row.statuses}};
}

Document all_syndromes() {
    std::vector<SyndromeRow> sorted(syndromes().begin(), syndromes().end());
    std::sort(sorted.begin(), sorted.end(),
              [](const SyndromeRow &a, const SyndromeRow &b) { return a.number < b.number; });
    Document rows = Document::array();
    for (const SyndromeRow &each : sorted)
        rows.push_back(syndrome_row(each));
    return rows;
}

struct Topic {
    const char *name, *says;
    Document (*rows)();
};
constexpr Topic kTopics[] = {
    {"identity", "what the PCI bus sees", identity},
    {"properties", "of the QEMU device", properties},
    {"commands", "of the command interface, with those that are refused", commands},
    {"registers", "behind ACCESS_REG", registers},
    {"capabilities", "that are advertised; what is not listed reads as zero", capabilities},
    {"events", "that event queues can carry", events},
    {"counters", "readable over QMP", counters},
    {"syndromes", "of refused commands", all_syndromes},
    {"layouts", "of what passes between driver and card", all_layouts},
};

Result<Document> layout(const std::string &name) {
    const LayoutRow *found = find_layout(name);
    if (!found)
        return Error{fmt::format("there is no layout '{}'; 'niclab describe layouts' lists them", name)};
    std::vector<std::pair<unsigned, Document>> rows;
    for (const FieldRow &field : fields())
        if (field.layout == name)
            rows.push_back({field.at * 64u + (63u - field.hi % 64u),
                            {{"offset", hex(field.at, 2)},
                             {"bits", fmt::format("{}:{}", field.hi, field.lo)},
                             {"field", field.name},
                             {"meaning", field.says}}});
    for (const PlaceRow &place : places())
        if (place.layout == name)
            rows.push_back({place.at * 64u,
                            {{"offset", hex(place.at, 2)},
                             {"bits", "from here"},
                             {"field", place.name},
                             {"meaning", place.says}}});
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    Document section = Document::array();
    for (auto &row : rows)
        section.push_back(std::move(row.second));
    return Document{{fmt::format("{}, {:#x} bytes", name, found->bytes), section}};
}

Result<Document> syndrome(const std::string &text) {
    size_t used = 0;
    unsigned long number = 0;
    try {
        number = std::stoul(text, &used, 0);
    } catch (const std::exception &) {
        used = 0;
    }
    if (used == 0 || used != text.size())
        return Error{fmt::format("'{}' is not a syndrome; they are numbers like 0x500003", text)};
    const SyndromeRow *base = nullptr;
    for (const SyndromeRow &each : syndromes()) {
        if (each.number == number) return Document{{"syndromes", Document::array({syndrome_row(each)})}};
        if (each.number == (number & ~0xfful))
            base = &each; // a kind of object, to which a small number is added
    }
    if (!base)
        return Error{
            fmt::format("the card has no syndrome {:#x}; 'niclab describe syndromes' lists them", number)};
    Document row = syndrome_row(*base);
    row["syndrome"] = hex(number, 6);
    return Document{{"syndromes", Document::array({row})}};
}

std::string cell(const Document &value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string section_text(const std::string &name, const Document &rows) {
    std::string text = name + "\n";
    if (rows.empty()) return text;
    std::vector<size_t> widths;
    for (const auto &[key, value] : rows.front().items())
        widths.push_back(key.size());
    for (const Document &row : rows) {
        size_t column = 0;
        for (const auto &[key, value] : row.items()) {
            widths[column] = std::max(widths[column], cell(value).size());
            ++column;
        }
    }
    auto line = [&](const Document &row, bool heading) {
        std::string out = " ";
        size_t column = 0;
        for (const auto &[key, value] : row.items())
            out += fmt::format(" {:<{}} ", heading ? key : cell(value), widths[column++]);
        return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
    };
    text += line(rows.front(), /*heading=*/true);
    for (const Document &row : rows)
        text += line(row, /*heading=*/false);
    return text;
}

} // namespace

std::vector<std::pair<std::string, std::string>> topics() {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Topic &topic : kTopics)
        all.emplace_back(topic.name, topic.says);
    return all;
}

Result<Document> describe(const std::vector<std::string> &words) {
    Document document;
    if (words.empty()) {
        for (const Topic &topic : kTopics)
            document[topic.name] = topic.rows();
        return document;
    }
    if (words[0] == "layout" && words.size() == 2) return layout(words[1]);
    if (words[0] == "syndrome" && words.size() == 2) return syndrome(words[1]);
    for (const Topic &topic : kTopics)
        if (words[0] == topic.name && words.size() == 1) {
            document[topic.name] = topic.rows();
            return document;
        }
    std::string known;
    for (const Topic &topic : kTopics)
        known += fmt::format("{}, ", topic.name);
    return Error{fmt::format(
        "'{}' cannot be described; choose one of {}layout NAME, syndrome NUMBER, bytes LAYOUT HEX",
        fmt::join(words, " "), known)};
}

std::string as_text(const Document &document) {
    std::string text;
    for (const auto &[name, rows] : document.items())
        text += (text.empty() ? "" : "\n") + section_text(name, rows);
    return text;
}

std::string as_markdown(const Document &document) {
    std::string text;
    for (const auto &[name, rows] : document.items()) {
        text += fmt::format("## {}\n\n", name);
        if (rows.empty()) continue;
        std::string heading = "|", rule = "|";
        for (const auto &[key, value] : rows.front().items()) {
            heading += fmt::format(" {} |", key);
            rule += " --- |";
        }
        text += fmt::format("{}\n{}\n", heading, rule);
        for (const Document &row : rows) {
            text += "|";
            for (const auto &[key, value] : row.items())
                text += cell(value).empty() ? " |" : fmt::format(" {} |", cell(value));
            text += "\n";
        }
        text += "\n";
    }
    return text;
}

Result<std::string> reference_page() {
    std::string text = "<!-- Written by ./niclab describe --markdown; the unit tests compare. -->\n\n"
                       "# connectx: reference\n\n"
                       "Out of the tables that the card works by. What it does with them is told in "
                       "[connectx.md](connectx.md).\n\n";
    for (const char *topic :
         {"identity", "properties", "capabilities", "commands", "registers", "events", "counters"})
        text += as_markdown(NICLAB_TRY(describe({topic})));
    text.pop_back(); // one line's end at the end
    return text;
}

} // namespace niclab::model
