// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/bench/measure.h"

#include <optional>

#include <fmt/format.h>

#include "niclab/artifacts.h"
#include "niclab/bench/marks.h"

namespace niclab::bench {
namespace {

constexpr auto kMarkLimit = std::chrono::minutes(5);
constexpr const char *kConnectx = "connectx";

/// What the marks of a run told.
class Journal {
  public:
    explicit Journal(Vm &vm) : vm_(vm) {}

    /// False when it was the last mark.
    Result<bool> take(const Mark &mark);
    std::map<std::string, Measured> results(const std::vector<Planned> &planned) const;
    Status complete() const;

  private:
    Result<Counters> card() const;
    Measured measured(const Planned &planned) const;
    Result<Cost> cost(const std::string &name, unsigned units) const;

    Vm &vm_;
    Counters before_;
    std::map<std::string, Window> windows_; ///< "NAME K"
    std::map<std::string, std::string> skipped_;
    std::optional<SymbolTable> symbols_;
};

/// The text behind `word`, when it begins with it.
std::optional<std::string> behind(const std::string &text, std::string_view word) {
    if (!text.starts_with(word)) return std::nullopt;
    return text.substr(word.size());
}

Result<Counters> Journal::card() const {
    if (vm_.spec().nics[0].model != kConnectx) return Counters();
    return vm_.card_counters(0);
}

Result<bool> Journal::take(const Mark &mark) {
    if (behind(mark.text, "begin ")) {
        before_ = NICLAB_TRY(card());
    } else if (auto window = behind(mark.text, "end ")) {
        windows_[*window] = window_of(mark.counts, before_, NICLAB_TRY(card()));
    } else if (auto skip = behind(mark.text, "note skip ")) {
        size_t blank = skip->find(' ');
        skipped_[skip->substr(0, blank)] =
            blank == std::string::npos ? "no reason given" : skip->substr(blank + 1);
    } else if (auto broken = behind(mark.text, "note broken ")) {
        return Error{*broken};
    } else if (behind(mark.text, "file kallsyms")) {
        symbols_ = NICLAB_TRY(SymbolTable::parse(mark.attachment));
    } else if (mark.text == "note start") {
        return true;
    } else if (mark.text == "note done") {
        return false;
    } else {
        return Error{fmt::format("the guest makes the mark '{}', which is not understood", mark.text)};
    }
    return true;
}

Status Journal::complete() const {
    if (!symbols_) return Error{"the guest ended without a list of its symbols"};
    return {};
}

Result<Cost> Journal::cost(const std::string &name, unsigned units) const {
    if (auto skip = skipped_.find(name); skip != skipped_.end()) return Error{skip->second};
    auto once = windows_.find(name + " 1"), twice = windows_.find(name + " 2");
    if (once == windows_.end() || twice == windows_.end()) return Error{"the guest did not come to it"};
    return unit_cost(once->second, twice->second, units, *symbols_);
}

Measured Journal::measured(const Planned &planned) const {
    std::string name = planned.scenario->name;
    auto whole = cost(name, planned.units);
    if (!whole.ok()) return {{}, whole.why()};
    if (!planned.scenario->has_baseline()) return {*whole, {}};
    auto base = cost(name + kBaselineSuffix, planned.units);
    if (!base.ok()) return {{}, base.why()};
    return {whole->minus(*base), {}};
}

std::map<std::string, Measured> Journal::results(const std::vector<Planned> &planned) const {
    std::map<std::string, Measured> all;
    for (const Planned &each : planned)
        all[each.scenario->name] = measured(each);
    return all;
}

} // namespace

Status add_script(VmSpec &spec, const Setting &setting, const std::vector<Planned> &planned,
                  const RunFolder &run) {
    std::string name = fmt::format("autorun-{}-{}", setting.driver->name, setting.iommu->name);
    NICLAB_TRY(run.write(name, guest_script(*setting.driver, planned)));
    spec.files.push_back({run.file(name).string(), "/niclab/autorun", 0755});
    return {};
}

VmSpec counting_machine(const Setting &setting) {
    VmSpec spec;
    spec.kernel = setting.kernel;
    spec.vcpus = 1;
    spec.nics.resize(2);
    spec.nics[0].model = setting.driver->model;
    spec.nics[0].properties = setting.driver->properties;
    spec.nics[1].model = setting.driver->peer;
    spec.iommu = setting.iommu->present;
    spec.caching_mode = setting.iommu->caching_mode;
    spec.kernel_command_line = setting.iommu->kernel_words;
    return spec;
}

Result<std::map<std::string, Measured>>
counting_run(const Setting &setting, const std::vector<Planned> &planned, const RunFolder &run) {
    VmSpec spec = counting_machine(setting);
    if (std::string(setting.driver->name) == "niclab") NICLAB_TRY(add_driver(spec));
    NICLAB_TRY(add_script(spec, setting, planned, run));
    MarkListener listener = NICLAB_TRY(MarkListener::open());
    spec.counting = CountingSpec{listener.path(), {}};
    Vm vm = NICLAB_TRY(Vm::launch(std::move(spec), run));
    Journal journal(vm);
    for (bool more = true; more;) {
        Mark mark = NICLAB_TRY(listener.next(vm, kMarkLimit));
        more = NICLAB_TRY(journal.take(mark));
        NICLAB_TRY(listener.answer());
    }
    NICLAB_TRY(journal.complete());
    if (std::string complaints = describe(vm.kernel_complaints()); !complaints.empty())
        return Error{"the guest's kernel complained: " + complaints};
    return journal.results(planned);
}

} // namespace niclab::bench
