# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the recipes that keep what they made in the cache: an entry is a folder with the checksums of its files in it.
# shellcheck shell=bash

# Notes the checksums of all files below folder $1. Done before the folder gets its final name.
seal_entry() {
    (cd "$1" && find . -type f ! -name '.sums*' ! -name .seen -print0 | LC_ALL=C sort -z | xargs -0 sha256sum >.sums)
    sha256sum <"$1/.sums" >"$1/.sums-sum"
}

# Stands for the files below $1 as long as nobody writes to one: that sets its ctime, whatever the tool.
entry_stamp() {
    (cd "$1" && find . -type f ! -name .seen -printf '%P %s %C@\n' | LC_ALL=C sort | sha256sum)
}

# Whether entry $1 is there with every byte that it was made with. The bytes are read only when a file was touched since the last look.
# One that is not as it was goes, and the caller makes it anew; the caller holds the lock of its kind.
entry_intact() {
    [[ -d $1 ]] || return 1
    touch "$1" 2>/dev/null || true # the last use, for `niclab doctor`
    [[ -e $1/.seen && $(<"$1/.seen") == "$(entry_stamp "$1")" ]] && return
    if [[ -e $1/.sums && -e $1/.sums-sum && $(sha256sum <"$1/.sums") == "$(<"$1/.sums-sum")" ]] &&
        (cd "$1" && sha256sum --quiet --check .sums >/dev/null 2>&1); then
        entry_stamp "$1" 2>/dev/null >"$1/.seen" || true
        return
    fi
    echo "${0##*/}: $1 is not what was put there, so it is made anew" >&2
    rm -rf "$1"
    return 1
}
