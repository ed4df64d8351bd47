// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/kernel_image.h"

#include <cstdint>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "niclab/paths.h"
#include "niclab/process.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

constexpr size_t kSetupSectors = 0x1f1;
constexpr size_t kHeaderMagic = 0x202;
constexpr size_t kPayloadOffset = 0x248;
constexpr size_t kPayloadLength = 0x24c;
constexpr size_t kSectorBytes = 512;
constexpr size_t kUnpackedLengthBytes = 4; // stands behind the packed data and counts as payload

std::uint32_t little32(std::string_view image, size_t at) {
    std::uint32_t value = 0;
    for (size_t i = 4; i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(image[at + i]);
    return value;
}

Result<std::vector<std::string>> unpacker(std::string_view payload) {
    using namespace std::string_view_literals;
    if (payload.substr(0, 6) == "\xfd"
                                "7zXZ\0"sv)
        return std::vector<std::string>{"xz", "-dc"};
    if (payload.substr(0, 4) == "\x28\xb5\x2f\xfd"sv) return std::vector<std::string>{"zstd", "-dcq"};
    if (payload.substr(0, 2) == "\x1f\x8b"sv) return std::vector<std::string>{"gzip", "-dc"};
    return Error{"the kernel is packed in a way that is not known here"};
}

/// Tells a file that was cut or spoiled from the one that was written; nobody forges it.
std::string digest(const std::string &bytes) {
    return fmt::format("{:016x} {}\n", std::hash<std::string>{}(bytes), bytes.size());
}

fs::path note_of(const fs::path &unpacked) { return unpacked.string() + ".digest"; }

bool is_as_made(const fs::path &unpacked) {
    auto bytes = read_file(unpacked), note = read_file(note_of(unpacked));
    if (!bytes.ok() || !note.ok() || *note != digest(*bytes)) return false;
    std::error_code not_ours;
    for (const fs::path &file : {unpacked, note_of(unpacked)}) // when it was used last
        fs::last_write_time(file, fs::file_time_type::clock::now(), not_ours);
    return true;
}

} // namespace

Result<std::string_view> bzimage_payload(std::string_view image) {
    if (image.size() < kPayloadLength + 4 || image.substr(kHeaderMagic, 4) != "HdrS")
        return Error{"this is no Linux bzImage"};
    size_t sectors = static_cast<unsigned char>(image[kSetupSectors]);
    size_t protected_mode = ((sectors == 0 ? 4 : sectors) + 1) * kSectorBytes;
    size_t begin = protected_mode + little32(image, kPayloadOffset);
    size_t length = little32(image, kPayloadLength);
    if (length <= kUnpackedLengthBytes || begin > image.size() || length > image.size() - begin)
        return Error{"the bzImage's payload does not lie inside the file"};
    return image.substr(begin, length - kUnpackedLengthBytes);
}

Result<fs::path> unpacked_kernel(const fs::path &vmlinuz) {
    std::string image = NICLAB_TRY(read_file(vmlinuz));
    fs::path folder = cache_root() / "vmlinux";
    fs::path target = folder / fmt::format("{:016x}-{}", std::hash<std::string>{}(image), image.size());
    if (is_as_made(target)) return target;
    std::string_view payload = NICLAB_TRY(bzimage_payload(image));
    std::vector<std::string> argv = NICLAB_TRY(unpacker(payload));
    std::error_code failed;
    fs::create_directories(folder, failed);
    fs::path packed = target.string() + ".packed." + std::to_string(getpid());
    NICLAB_TRY(write_file(packed, payload));
    argv.push_back("-k");
    argv.push_back(packed);
    auto unpacked = run_process(argv);
    fs::remove(packed, failed);
    if (!unpacked.ok()) return unpacked.error();
    if (unpacked->exit_code != 0 || unpacked->out.substr(0, 4) != "\x7f"
                                                                  "ELF")
        return Error{fmt::format("{} does not unpack the kernel: {}", argv[0], unpacked->err)};
    NICLAB_TRY(write_file(target, unpacked->out));
    NICLAB_TRY(write_file(note_of(target), digest(unpacked->out)));
    return target;
}

} // namespace niclab
