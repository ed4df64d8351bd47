# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the image recipes: the cache, its locks, and Debian packages that are fetched but never installed.
# shellcheck shell=bash

export LC_ALL=C.UTF-8 # what tools say is read here

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
    say "$*"
    exit 1
}

# shellcheck source=../harness/host/entry.bash
source "${BASH_SOURCE[0]%/*}/../harness/host/entry.bash"

kernel_series=(6.1 6.12)

# The recipes' only argument.
require_series() {
    local series
    for series in "${kernel_series[@]}"; do
        [[ $# -eq 1 && $1 == "$series" ]] && return
    done
    printf 'usage: %s %s\n' "${0##*/}" "$(IFS='|'; printf '%s' "${kernel_series[*]}")" >&2
    exit 2
}

require_tools() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || die "'$tool' is missing: run harness/host/setup"
    done
}

cache=${NICLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/niclab}

# Held until the script ends, so that two callers build an entry once.
lock() {
    mkdir -p "$cache"
    exec 9>"$cache/$1.lock"
    flock 9
}

# Key of an entry: everything that decides its content, on standard input.
key_of() { sha256sum | cut -c1-20; }

# Writes standard input to $1, leaving the file (and its age, which apt looks at) alone when nothing changes.
write_if_changed() {
    local text
    text=$(cat)
    [[ -e $1 && $text == "$(<"$1")" ]] || printf '%s\n' "$text" >"$1"
}

# The address, without the suite, that the machine's own sources give for suite $1.
machine_mirror() {
    local mirror
    mirror=$(apt-get --print-uris update 2>/dev/null | sed -n "s|^'\(.*\)/dists/$1/InRelease'.*|\1|p" | sort -u)
    [[ -n $mirror ]] || die "the machine's apt sources name no mirror of $1; set NICLAB_DEBIAN_MIRROR and NICLAB_DEBIAN_SECURITY_MIRROR"
    printf '%s\n' "${mirror%%$'\n'*}"
}

source_lines() {
    local suite mirror
    for suite in "$@"; do
        case $suite in
        *-security) mirror=${NICLAB_DEBIAN_SECURITY_MIRROR:-$(machine_mirror "$suite")} ;;
        *) mirror=${NICLAB_DEBIAN_MIRROR:-$(machine_mirror bookworm)} ;;
        esac
        printf 'deb %s %s main\n' "$mirror" "$suite"
    done
}

# Points apt at a configuration of our own; the machine's sources, lists and packages stay as they are.
# The empty dpkg status makes apt resolve dependencies as on an empty system.
use_private_apt() {
    local home=$cache/apt/$1
    shift
    mkdir -p "$home/lists/partial" "$home/archives/partial"
    [[ -e $home/status ]] || : >"$home/status"
    source_lines "$@" | write_if_changed "$home/sources.list"
    write_if_changed "$home/apt.conf" <<EOF
Dir::Etc::sourcelist "$home/sources.list";
Dir::Etc::sourceparts "-";
Dir::State "$home";
Dir::State::status "$home/status";
Dir::Cache "$home";
Dir::Cache::archives "archives";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Acquire::Languages "none";
Acquire::ForceHash "SHA256";
Acquire::GzipIndexes "false";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
EOF
    private_apt=$home/apt.conf
    refresh_lists "$home"
}

# "-c" is read after the machine's own configuration (proxies and the like stay in force), so ours wins.
private() { "$1" -c "$private_apt" "${@:2}"; }

# Package lists older than a day are fetched again. Without a network, lists that are there serve on.
refresh_lists() {
    local stamp=$1/refreshed
    if [[ -n $(find "$stamp" -newer "$1/sources.list" -mmin -1440 2>/dev/null) ]]; then
        return
    fi
    if private apt-get -qq -o APT::Update::Error-Mode=any update >&2; then
        touch "$stamp"
    elif [[ -e $stamp ]]; then
        say "Debian's package lists cannot be reached; going on with those of $(date -r "$stamp" +%F)"
    else
        die "Debian's package lists cannot be fetched: check the network, or set NICLAB_DEBIAN_MIRROR"
    fi
}

# A folder beside the entries to build in; thrown away unless publish renames it. The lock is ours, so what looks like one is of
# somebody who was killed.
new_entry() {
    mkdir -p "${1%/*}"
    rm -rf "${1%-*}"-*.??????
    work=$(mktemp -d "$1.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    chmod 755 "$work"
}

publish() {
    seal_entry "$work"
    mv -T "$work" "$1"
    trap - EXIT
}
