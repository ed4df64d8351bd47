// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/paths.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "niclab/space.h"

namespace fs = std::filesystem;

namespace niclab {
namespace {

std::string environment(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

} // namespace

fs::path source_root() { return NICLAB_SOURCE_ROOT; }

fs::path build_root() { return source_root() / "build"; }

fs::path cache_root() {
    if (auto own = environment("NICLAB_CACHE"); !own.empty()) return own;
    if (auto shared = environment("XDG_CACHE_HOME"); !shared.empty()) return fs::path(shared) / "niclab";
    auto home = environment("HOME");
    return fs::path(home.empty() ? "/root" : home) / ".cache/niclab";
}

fs::path guest_programs() { return build_root() / "host/guest"; }

fs::path reaper_program() { return NICLAB_REAPER; }

Result<fs::path> state_root() {
    fs::path root;
    if (geteuid() == 0)
        root = "/run/niclab";
    else if (auto runtime = environment("XDG_RUNTIME_DIR"); !runtime.empty())
        root = fs::path(runtime) / "niclab";
    else
        root = "/tmp/niclab-" + std::to_string(geteuid());
    if (mkdir(root.c_str(), 0700) != 0 && errno != EEXIST)
        return Error{"cannot make " + root.string() + ": " + std::strerror(errno)};
    struct stat info {};
    if (lstat(root.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
        return Error{root.string() + " is not a folder of ours; remove it"};
    return root;
}

Result<std::string> read_file(const fs::path &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    if (!in) return Error{"cannot read " + path.string()};
    text << in.rdbuf();
    return text.str();
}

Status write_file(const fs::path &path, std::string_view text) {
    fs::path half = path.string() + "." + std::to_string(getpid());
    {
        std::ofstream out(half, std::ios::binary);
        out.write(text.data(), static_cast<std::streamsize>(text.size()));
        if (!out.flush()) {
            std::string why = std::strerror(errno);
            unlink(half.c_str());
            return with_space_looked_at("cannot write " + half.string() + ": " + why, {path.parent_path()});
        }
    }
    std::error_code failed;
    fs::rename(half, path, failed);
    if (failed) return Error{"cannot write " + path.string() + ": " + failed.message()};
    return {};
}

} // namespace niclab
