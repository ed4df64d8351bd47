// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/matrix/files.h"

#include <algorithm>

#include <fmt/format.h>

#include "niclab/paths.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace niclab::matrix {
namespace {

constexpr size_t kPageLimit = 8 << 20; // bytes of a log that a page shows

/// Length of the UTF-8 character that begins there; 0 when none does.
size_t character_at(std::string_view text, size_t at) {
    auto byte = static_cast<unsigned char>(text[at]);
    size_t length = byte < 0x80                   ? 1
                    : byte >= 0xc2 && byte < 0xe0 ? 2
                    : byte >= 0xe0 && byte < 0xf0 ? 3
                    : byte >= 0xf0 && byte < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || at + length > text.size()) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80) return 0;
    return length;
}

constexpr const char *kLogStyle = R"(:root{color-scheme:light dark}
body{margin:0;font:13px/1.5 ui-monospace,monospace;background:#fff;color:#1d2129}
h1{font:600 16px system-ui,sans-serif;margin:0;padding:12px 16px;overflow-wrap:anywhere}
pre{margin:0;padding:0 0 40vh;overflow-x:auto}
a{display:inline-block;width:6ch;padding-right:1.5ch;text-align:right;color:#6b7280;text-decoration:none}
span:target{background:#fff3b0;display:inline-block;min-width:100%}
@media (prefers-color-scheme:dark){body{background:#15181d;color:#e3e6ea}a{color:#8b93a0}span:target{background:#4a3f00}}
)";

std::string log_page(const std::string &title, std::string_view log) {
    std::string cut;
    if (log.size() > kPageLimit) {
        cut = fmt::format("(the log has {} bytes; this page shows the first {})\n", log.size(), kPageLimit);
        log = log.substr(0, kPageLimit);
    }
    std::string page =
        fmt::format("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
                    "content=\"width=device-width,initial-scale=1\"><title>{0}</title><style>{1}</style>"
                    "<h1>{0}</h1><pre>",
                    escaped(title), kLogStyle);
    size_t number = 0;
    for (size_t from = 0; from < log.size();) {
        size_t end = std::min(log.find('\n', from), log.size());
        page += fmt::format("<span id=\"L{0}\"><a href=\"#L{0}\">{0}</a>{1}</span>\n", ++number,
                            escaped(log.substr(from, end - from)));
        from = end + 1;
    }
    return page + escaped(cut) + "</pre></html>\n";
}

std::string ktap_line(size_t number, const TestResult &test) {
    std::string name = test.name;
    std::replace(name.begin(), name.end(), '#', '_');
    const char *word =
        test.verdict == Verdict::failed || test.verdict == Verdict::quarantined ? "not ok" : "ok";
    const char *directive = test.verdict == Verdict::skipped       ? " # SKIP"
                            : test.verdict == Verdict::quarantined ? " # XFAIL"
                                                                   : "";
    std::string first = test.message.substr(0, test.message.find('\n'));
    return fmt::format("    {} {} {}{}{}\n", word, number, name, directive,
                       *directive && !first.empty() ? " " + first : "");
}

} // namespace

std::string escaped(std::string_view text) {
    std::string result;
    result.reserve(text.size() + text.size() / 8);
    for (size_t i = 0; i < text.size();) {
        size_t length = character_at(text, i);
        auto byte = static_cast<unsigned char>(text[i]);
        if (length == 0 || (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
            result += "\xef\xbf\xbd"; // the mark for what is no character
            ++i;
            continue;
        }
        switch (byte) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        case '\'':
            result += "&#39;";
            break;
        default:
            result.append(text.substr(i, length));
        }
        i += length;
    }
    return result;
}

json as_json(const std::string &cell, const CellResult &result) {
    json tests = json::array(), numbers = json::array();
    for (const TestResult &test : result.tests)
        tests.push_back({{"name", test.name},
                         {"verdict", name(test.verdict)},
                         {"seconds", test.seconds},
                         {"message", test.message},
                         {"line", test.line}});
    for (const Measurement &each : result.measurements)
        numbers.push_back({{"scenario", each.scenario}, {"metric", each.metric}, {"value", each.value}});
    return {{"cell", cell},
            {"passed", result.passed},
            {"why", result.why},
            {"seconds", result.seconds},
            {"tests", tests},
            {"measurements", numbers},
            {"environment", result.environment}};
}

std::string as_junit(const std::string &cell, const CellResult &result) {
    size_t failures = 0, skipped = 0;
    std::string cases;
    for (const TestResult &test : result.tests) {
        size_t dot = test.name.find('.');
        std::string inner;
        if (test.verdict == Verdict::failed) {
            ++failures;
            inner =
                fmt::format("<failure message=\"{}\">{}</failure>",
                            escaped(test.message.substr(0, test.message.find('\n'))), escaped(test.message));
        } else if (test.verdict != Verdict::passed) {
            ++skipped;
            inner = fmt::format("<skipped message=\"{}\"/>",
                                escaped(test.message.substr(0, test.message.find('\n'))));
        }
        cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">{}</testcase>\n",
                             escaped(test.name.substr(0, dot == std::string::npos ? 0 : dot)),
                             escaped(dot == std::string::npos ? test.name : test.name.substr(dot + 1)),
                             test.seconds, inner);
    }
    // A cell that failed without a test of its own to blame.
    size_t errors = !result.passed && failures == 0 ? 1 : 0;
    if (errors)
        cases += fmt::format("  <testcase classname=\"\" name=\"cell\"><error message=\"{}\"/></testcase>\n",
                             escaped(result.why));
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" "
        "errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuite>\n",
        escaped(cell), result.tests.size() + errors, failures, errors, skipped, result.seconds, cases);
}

std::string as_ktap(const std::string &cell, const CellResult &result) {
    std::string text =
        fmt::format("KTAP version 1\n1..1\n    KTAP version 1\n    1..{}\n", result.tests.size());
    size_t number = 0;
    for (const TestResult &test : result.tests)
        text += ktap_line(++number, test);
    return text + fmt::format("{} 1 {}{}\n", result.passed ? "ok" : "not ok", cell,
                              result.passed
                                  ? ""
                                  : fmt::format("\n# {}", result.why.substr(0, result.why.find('\n'))));
}

Status write_results(const fs::path &folder, const std::string &cell, const CellResult &result) {
    NICLAB_TRY(write_file(folder / "result.json",
                          as_json(cell, result).dump(2, ' ', false, json::error_handler_t::replace) + "\n"));
    NICLAB_TRY(write_file(folder / "junit.xml", as_junit(cell, result)));
    return write_file(folder / "result.ktap", as_ktap(cell, result));
}

Status write_log_pages(const fs::path &folder, const std::string &cell) {
    std::error_code failed;
    std::vector<fs::path> logs = {folder / "log.txt", folder / "build.txt"};
    for (const auto &run : fs::directory_iterator(folder / "runs", failed))
        logs.push_back(run.path() / "console.log");
    for (const fs::path &log : logs) {
        if (!fs::exists(log, failed)) continue;
        std::string text = NICLAB_TRY(read_file(log));
        std::string title = fmt::format("{}: {}", cell, log.lexically_relative(folder).string());
        NICLAB_TRY(write_file(fs::path(log).replace_extension("html"), log_page(title, text)));
    }
    return {};
}

} // namespace niclab::matrix
