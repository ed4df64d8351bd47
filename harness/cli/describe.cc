// SPDX-License-Identifier: GPL-2.0-or-later
// Prints what the card models, and takes bytes apart by its layouts.
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "commands.h"
#include "niclab/model/describe.h"
#include "niclab/model/dump.h"

namespace niclab::cli {
namespace {

constexpr const char *kCard = "connectx";

std::string standard_input() {
    std::string text;
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, stdin)) > 0;)
        text.append(buffer, n);
    return text;
}

/// "bytes LAYOUT HEX...": without digits they come from the standard input.
Result<std::string> decoded(const std::vector<std::string> &words) {
    if (words.size() < 2)
        return Error{"bytes of what? give a layout, and hexadecimal digits or a dump as input"};
    std::string text;
    for (size_t i = 2; i < words.size(); ++i)
        text += words[i] + " ";
    if (words.size() == 2 && !isatty(STDIN_FILENO)) text = standard_input();
    std::vector<u8> bytes = NICLAB_TRY(model::parse_hex(text));
    auto pieces = NICLAB_TRY(model::pieces_of(words[1], bytes));
    return model::many_lines(pieces, bytes);
}

Result<std::string> text_for(const DescribeOptions &options) {
    std::vector<std::string> words = options.words;
    if (!words.empty() && words[0] == kCard) words.erase(words.begin());
    if (!words.empty() && words[0] == "bytes") return decoded(words);
    if (options.markdown && words.empty()) return model::reference_page();
    auto document = NICLAB_TRY(model::describe(words));
    if (options.markdown) return model::as_markdown(document);
    return options.json ? document.dump(2) + "\n" : model::as_text(document);
}

} // namespace

int describe(const DescribeOptions &options) {
    auto text = text_for(options);
    if (!text.ok()) {
        (void)failure(text.why());
        return kUsageStatus;
    }
    std::fputs(text->c_str(), stdout);
    return 0;
}

} // namespace niclab::cli
