# SPDX-License-Identifier: GPL-2.0-or-later
# Names out of the sources, for `niclab describe`: the compiler keeps values but forgets what they are called.
# Writes one macro call a row (see harness/lib/niclab/model/tables.cc, which includes the result). The values
# themselves are not copied: each row refers to the constant that the source defines.
#
#   awk -v of=layouts -f tables.awk guest-driver/spec/*.h
#   awk -v of=syndromes -f tables.awk qemu-device/core/connectx/*.cc *.h

function trimmed(text) {
    gsub(/[ \t]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    return text
}

function quoted(text) {
    text = trimmed(text)
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}

# Macro calls for one whole statement of a layout header.
function statement(text, says,    names, count, i, name) {
    if (match(text, /^(inline )?namespace /)) return
    if (match(text, /^struct [A-Za-z0-9_]+ \{/)) {
        layout = text
        sub(/^struct /, "", layout)
        sub(/ .*/, "", layout)
        printf "NICLAB_LAYOUT(%s, %s)\n", layout, quoted(says)
        return
    }
    if (match(text, /^enum class /)) {
        name = text
        sub(/^enum class /, "", name)
        sub(/[ :].*/, "", name)
        sub(/^[^{]*\{/, "", text)
        sub(/\}.*/, "", text)
        count = split(text, names, ",")
        for (i = 1; i <= count; i++) {
            sub(/=.*/, "", names[i])
            if (trimmed(names[i]) != "") printf "NICLAB_ENUMERATOR(%s, %s)\n", name, trimmed(names[i])
        }
        return
    }
    if (layout == "") return
    if (text ~ /^\}/) {
        layout = ""
        return
    }
    if (match(text, /^static constexpr (F|Field64<[A-Za-z0-9_]+>) [a-z0-9_]+\{/)) {
        name = substr(text, 1, RLENGTH - 1)
        sub(/.* /, "", name)
        printf "NICLAB_FIELD(%s, %s, %s)\n", layout, name, quoted(says)
    } else if (match(text, /^static constexpr u16 /)) {
        sub(/^static constexpr u16 /, "", text)
        count = split(text, names, ",")
        for (i = 1; i <= count; i++) {
            name = names[i]
            sub(/=.*/, "", name)
            name = trimmed(name)
            if (name !~ /^k[A-Z]/ && name !~ /bytes$/) printf "NICLAB_PLACE(%s, %s, %s)\n", layout, name, quoted(says)
        }
    }
}

function layout_line(line,    at, opens) {
    at = index(line, "//")
    if (at > 0) {
        # A comment on a line of its own belongs to no row.
        if (trimmed(substr(line, 1, at - 1)) == "" && code == "") return
        comment = comment " " substr(line, at + 2)
        line = substr(line, 1, at - 1)
    }
    if (trimmed(line) == "" && code == "") return
    if (line ~ /^#/) return
    code = trimmed(code " " line)
    opens = code ~ /^(struct [A-Za-z0-9_]+|namespace[^;]*) \{$/
    if (!opens && code !~ /;$/ && code !~ /^\}$/) return
    statement(code, comment)
    code = comment = ""
}

# "InputLength" as "input length".
function in_words(name,    out, i, letter) {
    for (i = 1; i <= length(name); i++) {
        letter = substr(name, i, 1)
        out = out (letter ~ /[A-Z]/ && i > 1 ? " " : "") tolower(letter)
    }
    return out
}

# Causes of one source file: their numbers, and the status that each is refused with where the source says so.
function causes(file, text,    rest, row, name, number, statuses) {
    while (match(text, /fail\( ?Status::[a-z_]+, kSyn[A-Za-z0-9]+\)/)) {
        row = substr(text, RSTART, RLENGTH)
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
        name = row
        sub(/.*, /, "", name)
        sub(/\)/, "", name)
        sub(/.*Status::/, "", row)
        sub(/,.*/, "", row)
        if (index(", " statuses[name] ",", ", " row ",") == 0)
            statuses[name] = statuses[name] (statuses[name] == "" ? "" : ", ") row
    }
    sub(/.*\//, "", file)
    sub(/\..*/, "", file)
    while (match(text, /kSyn[A-Za-z0-9]+ = 0x[0-9a-f]+/)) {
        row = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        name = number = row
        sub(/ .*/, "", name)
        sub(/.* /, "", number)
        printf "NICLAB_SYNDROME(%s, %s, %s, %s)\n", number, quoted(in_words(substr(name, 5))), quoted(file),
            quoted(statuses[name])
    }
}

of == "layouts" { layout_line($0) }
of == "syndromes" {
    if (FNR == 1 && file != "") causes(file, whole)
    if (FNR == 1) whole = ""
    file = FILENAME
    whole = whole " " trimmed($0)
}
END { if (of == "syndromes") causes(file, whole) }
