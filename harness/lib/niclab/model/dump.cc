// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/model/dump.h"

#include <algorithm>

#include <fmt/format.h>

#include "niclab/model/tables.h"
#include "spec/layout.h"

namespace niclab::model {

Result<std::vector<Piece>> pieces_of(const std::string &what, Bytes bytes) {
    std::vector<Piece> pieces;
    if (what == "command" && bytes.size() >= 2)
        pieces = command_pieces(bytes, load_be16(bytes.data()), /*output=*/false);
    else if (what == "wqe")
        pieces = wqe_pieces(bytes);
    else if (what == "cqe")
        pieces = cqe_pieces(bytes);
    else if (what == "eqe")
        pieces = eqe_pieces(bytes);
    else if (const LayoutRow *layout = find_layout(what))
        pieces = {{layout->name, 0}};
    else if (what != "command")
        return Error{fmt::format("there is no layout '{}'; there are command, wqe, cqe, eqe, and those that "
                                 "'niclab describe layouts' lists",
                                 what)};
    if (pieces.empty() || !holds(bytes, pieces[0]))
        return Error{fmt::format(
            "{} bytes are too few for '{}'{}", bytes.size(), what,
            pieces.empty() ? "" : fmt::format(", which has {}", find_layout(pieces[0].layout)->bytes))};
    return pieces;
}

Result<std::vector<u8>> parse_hex(const std::string &text) {
    std::string digits;
    usize from = 0;
    while (from < text.size()) {
        usize to = std::min(text.find_first_of(" \t\r\n,", from), text.size());
        std::string word = text.substr(from, to - from);
        from = to + 1;
        if (word.empty() || word.back() == ':') continue; // the offset in front of a line of a dump
        if (word.starts_with("0x") || word.starts_with("0X")) word.erase(0, 2);
        std::erase(word, ':');
        if (word.size() % 2 != 0 || word.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
            return Error{fmt::format("'{}' is not bytes in hexadecimal digits", word)};
        digits += word;
    }
    std::vector<u8> bytes;
    for (usize at = 0; at < digits.size(); at += 2)
        bytes.push_back(static_cast<u8>(std::stoul(digits.substr(at, 2), nullptr, 16)));
    if (bytes.empty()) return Error{"there are no bytes to decode"};
    return bytes;
}

} // namespace niclab::model
