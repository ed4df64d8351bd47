// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/symbols.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <elfutils/libdwfl.h>
#include <fmt/format.h>

namespace fs = std::filesystem;

namespace niclab {
namespace {

char *no_debug_path = nullptr;
const Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &no_debug_path,
};

/// Where `function` starts. Static functions may share a name: the kernel's size, which goes up to the next
/// symbol, is then nearest to that of the right one.
std::optional<GElf_Addr> address_of(Dwfl_Module *module, const Frame &frame) {
    std::optional<GElf_Addr> best;
    auto nearest = std::numeric_limits<std::uint64_t>::max();
    int count = std::max(dwfl_module_getsymtab(module), 0);
    for (int i = 0; i < count; ++i) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr);
        if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || frame.function != name) continue;
        std::uint64_t gap =
            frame.size > symbol.st_size ? frame.size - symbol.st_size : symbol.st_size - frame.size;
        if (gap >= nearest) continue;
        nearest = gap;
        best = address;
    }
    return best;
}

/// Below the folder of the build or of the module, which say nothing to a reader.
std::string shortened(const std::string &source, const char *build_folder, const fs::path &file) {
    for (const std::string &folder :
         {std::string(build_folder ? build_folder : ""), file.parent_path().string()})
        if (!folder.empty() && source.starts_with(folder + "/")) return source.substr(folder.size() + 1);
    return source;
}

} // namespace

struct DebugFile::Impl {
    struct End {
        void operator()(Dwfl *open) const { dwfl_end(open); }
    };
    std::unique_ptr<Dwfl, End> session;
    Dwfl_Module *module = nullptr;

    explicit Impl(const fs::path &path) : session(dwfl_begin(&kCallbacks)) {
        if (!session) return;
        dwfl_report_begin(session.get());
        module = dwfl_report_offline(session.get(), path.filename().c_str(), path.c_str(), -1);
        dwfl_report_end(session.get(), nullptr, nullptr);
    }
};

DebugFile::DebugFile(fs::path path) : path_(std::move(path)) {}
DebugFile::DebugFile(DebugFile &&) noexcept = default;
DebugFile::~DebugFile() = default;

std::string DebugFile::source_of(const Frame &frame) {
    if (!impl_) impl_ = std::make_unique<Impl>(path_);
    if (!impl_->module) return {};
    auto start = address_of(impl_->module, frame);
    if (!start) return {};
    // A return address may be that of the next line.
    GElf_Addr address = *start + frame.offset - (frame.is_place || frame.offset == 0 ? 0 : 1);
    Dwfl_Line *line = dwfl_module_getsrc(impl_->module, address);
    int number = 0;
    const char *source = line ? dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr) : nullptr;
    if (!source || number <= 0) return {};
    return fmt::format("{}:{}", shortened(source, dwfl_line_comp_dir(line), path_), number);
}

void Symbols::add(const std::string &module, const fs::path &file) {
    files_.erase(module);
    files_.emplace(module, DebugFile(file));
}

void Symbols::explain(std::vector<Complaint> &complaints) {
    for (Complaint &complaint : complaints)
        for (Frame &frame : complaint.frames)
            if (auto file = files_.find(frame.module); file != files_.end())
                frame.source = file->second.source_of(frame);
}

std::map<std::string, fs::path> debug_files(const VmSpec &spec) {
    std::map<std::string, fs::path> files;
    std::error_code failed;
    fs::path kernel = spec.kernel_folder;
    if (!spec.kernel_folder.empty() && fs::exists(kernel / "vmlinux", failed)) {
        files[""] = kernel / "vmlinux";
        for (const auto &entry : fs::recursive_directory_iterator(kernel / "lib/modules", failed))
            if (entry.path().extension() == ".ko") files[module_name(entry.path())] = entry.path();
    }
    for (const ExtraFile &file : spec.files)
        if (fs::path(file.guest_path).extension() == ".ko")
            files[module_name(file.guest_path)] = file.host_path;
    return files;
}

std::string module_name(const fs::path &file) {
    std::string name = file.stem();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

} // namespace niclab
