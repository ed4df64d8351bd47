// SPDX-License-Identifier: GPL-2.0-or-later
// The distribution and what is installed of it.
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "niclab/doctor/checks.h"
#include "niclab/paths.h"

namespace niclab::doctor {
namespace {

/// The value of NAME=value or NAME="value" (os-release(5)).
std::string os_value(const std::string &text, const std::string &name) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(name + "=")) continue;
        std::string value = line.substr(name.size() + 1);
        std::erase(value, '"');
        return value;
    }
    return "unknown";
}

std::vector<std::string> wanted(const std::string &list) {
    std::vector<std::string> names;
    std::istringstream lines(list);
    for (std::string line; std::getline(lines, line);) {
        line = line.substr(0, line.find('#'));
        std::istringstream words(line);
        if (std::string name; words >> name) names.push_back(name);
    }
    return names;
}

/// dpkg's list: paragraphs with "Package:" before "Status:".
std::set<std::string> installed(const std::string &status) {
    std::set<std::string> names;
    std::istringstream lines(status);
    std::string package;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("Package: ")) package = line.substr(9);
        if (line == "Status: install ok installed" || line == "Status: hold ok installed")
            names.insert(package);
    }
    return names;
}

} // namespace

Findings check_system(const Host &host) {
    auto text = read_file(host.at("/etc/os-release"));
    std::string id = os_value(text.ok() ? *text : "", "ID"),
                version = os_value(text.ok() ? *text : "", "VERSION_ID");
    std::string says = fmt::format("this is {} {}", id, version);
    if (id == "debian" && version == "12") return {{"system", Verdict::ok, says, ""}};
    return {{"system", Verdict::bad, says + ", and the lab is made for Debian 12",
             "work in a Debian 12 machine or container"}};
}

Findings check_packages(const Host &host) {
    auto list = read_file(host.source / "harness/host/packages.txt");
    auto status = read_file(host.at("/var/lib/dpkg/status"));
    if (!list.ok()) return {{"packages", Verdict::bad, list.why(), "restore the file: git checkout harness"}};
    if (!status.ok())
        return {{"packages", Verdict::bad, status.why() + ", so nothing is known of what is installed",
                 "work in a Debian 12 machine or container"}};
    std::set<std::string> there = installed(*status);
    std::vector<std::string> missing;
    for (const std::string &name : wanted(*list))
        if (!there.contains(name)) missing.push_back(name);
    if (missing.empty()) return {{"packages", Verdict::ok, "all that the lab needs are installed", ""}};
    return {{"packages", Verdict::bad, fmt::format("{} missing: {}", missing.size(), fmt::join(missing, " ")),
             fmt::format("{}apt-get install --no-install-recommends {}",
                         host.is_root() ? "" : "as root: ", fmt::join(missing, " "))}};
}

} // namespace niclab::doctor
