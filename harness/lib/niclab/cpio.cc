// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/cpio.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace niclab {

void CpioWriter::add_file(std::string_view path, unsigned mode, std::string_view content) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    add_folders_above(path);
    add_entry(path, S_IFREG | mode, content);
}

std::string CpioWriter::finish() {
    inode_ = 0;
    add_entry("TRAILER!!!", 0, {});
    pad_to(512);
    return std::move(bytes_);
}

void CpioWriter::add_folders_above(std::string_view path) {
    for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
        if (folders_.emplace(path.substr(0, slash)).second)
            add_entry(path.substr(0, slash), S_IFDIR | 0755, {});
    }
}

void CpioWriter::add_entry(std::string_view path, unsigned mode, std::string_view content) {
    const unsigned inode = inode_++, owner = 0, group = 0, links = 1, time = 0, device = 0, checksum = 0;
    bytes_ += fmt::format("070701{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}", inode, mode, owner, group,
                          links, time, content.size());
    bytes_ += fmt::format("{:08X}{:08X}{:08X}{:08X}{:08X}{:08X}", device, device, device, device,
                          path.size() + 1, checksum);
    bytes_ += path;
    bytes_ += '\0';
    pad_to(4);
    bytes_ += content;
    pad_to(4);
}

void CpioWriter::pad_to(size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
}

} // namespace niclab
