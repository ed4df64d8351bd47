// SPDX-License-Identifier: GPL-2.0-or-later
// The orders that a process with a VM carries out for others (control.h):
//   {"order": "reload", "module": PATH, "parameters": TEXT}
//   {"order": "counters"}      says one line of JSON: {"nic0": {NAME: NUMBER, ...}, ...}
//   {"order": "record"}        says the file of each card that records from now on
//   {"order": "stop-record"}
#pragma once

#include "niclab/control.h"
#include "niclab/guest.h"

namespace niclab {

Status carry_out_order(Guest &guest, const nlohmann::json &order, const Say &say);

} // namespace niclab
