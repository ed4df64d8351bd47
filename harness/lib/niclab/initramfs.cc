// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/initramfs.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "niclab/cpio.h"
#include "niclab/paths.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

void append(std::ofstream &out, const std::string &archive) {
    // An archive starts at a multiple of four bytes.
    while (out.tellp() % 4 != 0)
        out.put('\0');
    out.write(archive.data(), static_cast<std::streamsize>(archive.size()));
}

} // namespace

Status write_initramfs(const VmSpec &spec, const fs::path &to) {
    CpioWriter extra;
    for (const ExtraFile &file : spec.files) {
        std::string content = NICLAB_TRY(read_file(file.host_path));
        extra.add_file(file.guest_path, file.mode, content);
    }
    std::error_code failed;
    fs::copy_file(spec.initramfs, to, fs::copy_options::overwrite_existing, failed);
    if (failed)
        return Error{"cannot copy " + spec.initramfs + " to " + to.string() + ": " + failed.message()};
    fs::permissions(to, fs::perms::owner_write, fs::perm_options::add, failed);
    std::ofstream out(to, std::ios::binary | std::ios::app);
    for (const std::string &archive : spec.archives)
        append(out, NICLAB_TRY(read_file(archive)));
    append(out, extra.finish());
    if (!out.flush()) return Error{"cannot write " + to.string() + ": " + std::strerror(errno)};
    return {};
}

} // namespace niclab
