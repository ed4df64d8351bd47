// SPDX-License-Identifier: GPL-2.0-or-later
// What a unit of work costs the host: the instructions that QEMU itself executes, counted by callgrind, by
// the part of QEMU that they belong to.
#pragma once

#include <span>

#include "niclab/bench/callgrind.h"
#include "niclab/bench/measure.h"

namespace niclab::bench {

/// Columns of the table; the last has what no other takes.
std::span<const char *const> host_groups();
/// The group of one of QEMU's functions of a run in which the card of `driver` is measured.
const char *host_group(std::string_view function, const Driver &driver);

/// As counting_run(), with the functions of QEMU; their modules are host groups.
Result<std::map<std::string, Measured>> host_run(const Setting &setting, const std::vector<Planned> &planned,
                                                 const RunFolder &run);

/// Of dumps that were asked for by the marks "end NAME 1" and "end NAME 2".
Measured host_cost(const std::map<std::string, CallgrindDump> &dumps, const Planned &planned,
                   const Driver &driver);

/// A line of the table: instructions per unit in each group.
std::string host_heading();
std::string host_line(const std::string &scenario, const Setting &setting, const Measured &measured);

} // namespace niclab::bench
