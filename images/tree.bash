# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the recipes of what a guest unpacks: a folder $root filled from the Debian packages ${packages[@]}.
# shellcheck shell=bash disable=SC2034,SC2154  # uris is for the recipe; work, root, here and packages are from it

# The packages asked for and all that they depend on.
resolve() {
    uris=$(private apt-get -qq --print-uris install "${packages[@]}")
}

# Debian 12 has /bin, /lib and so on inside /usr.
make_tree() {
    local tree=$1 name
    mkdir -p "$tree"/usr/{bin,lib,lib64,sbin}
    for name in bin lib lib64 sbin; do
        ln -s "usr/$name" "$tree/$name"
    done
}

unpack_debs() {
    local deb
    private apt-get -qq -y --download-only -o Dir::Cache::archives="$work/debs" install "${packages[@]}" >&2
    make_tree "$work/all"
    for deb in "$work"/debs/*.deb; do
        dpkg-deb --fsys-tarfile "$deb" | tar -C "$work/all" -x --keep-directory-symlink
    done
}

# Programs and data come from the packages asked for; documentation and service files stay out.
copy_programs() {
    local package
    for package in "${packages[@]}"; do
        dpkg-deb --fsys-tarfile "$work"/debs/"$package"_*.deb |
            tar -C "$root" -x --keep-directory-symlink --wildcards -X "$here/initramfs/leave-out.txt"
    done
}

needed_by() { readelf -d "$@" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u; }

# Of the other packages only the shared libraries that some program here needs.
copy_libraries() {
    local queue library file
    mapfile -t queue < <(find "$root/usr" -type f \( -perm /111 -o -name '*.so*' \))
    cp -L "$work/all/lib64/ld-linux-x86-64.so.2" "$root/usr/lib64/"
    while [[ ${#queue[@]} -gt 0 ]]; do
        local found=()
        while read -r library; do
            file=$(find "$work/all/usr/lib" -name "$library" | head -n 1)
            [[ -n $file ]] || die "no package brings $library"
            file=${file#"$work/all"}
            [[ -e $root$file ]] && continue
            mkdir -p "$root${file%/*}"
            cp -L "$work/all$file" "$root$file"
            found+=("$root$file")
        done < <(needed_by "${queue[@]}")
        queue=("${found[@]}")
    done
}

# Everything below $root as a cpio archive $1.
pack() {
    find "$root" -exec touch -h -d @0 {} +
    (cd "$root" && find . -mindepth 1 | sort | cpio --quiet --reproducible -R 0:0 -H newc -o) >"$1"
}
