// SPDX-License-Identifier: GPL-2.0-or-later
// What can be set at the card from outside, and read: the host registers these, help and documentation print
// them.
#include "connectx/cx_core.h"

#include <iterator>

#define CX_TEXT_OF(value) #value
#define CX_TEXT(value) CX_TEXT_OF(value)

namespace {

constexpr cx_property kProperties[] = {
    {"queues", CX_TEXT(CX_DEFAULT_QUEUES), "Completion vectors offered to the driver, 1 to 63"},
    {"speed", CX_TEXT(CX_DEFAULT_SPEED),
     "Highest port speed in Mbit/s: 1000, 10000, 25000, 40000, 50000 or 100000"},
    {"counters", "", "What the card has done so far, by counter name (read only)"},
    {"link-up", "", "Whether driver and cable both have the port up (read only)"},
    {"module-plugged", "true", "Whether the cable's module is in the port's cage"},
    {"temperature", "", "Of the chip, in thousandths of a degree; the driver is warned at 105000"},
    {"damaged-frames", "0", "How many of the next frames arrive with a wrong checksum"},
    {"health-syndrome", "0", "Trouble that the card reports and survives, 0 for none"},
    {"fatal-syndrome", "0", "Trouble that ends with a reset by the driver, 0 for none"},
    {"inline-headers", "0",
     "Headers a send request must carry inline, from the next driver on: 0 none, 1 Ethernet, 2 IP, 3 TCP or "
     "UDP"},
    {"real-time-clock", "false",
     "Offer a clock that tells the time of day and time stamps of it, from the next driver on"},
    {"pulse-input", "false", "Level at the pin that takes pulses of another clock"},
    {"beacon", "", "Whether the port's indicator light blinks (read only)"},
    {"recent", "",
     "File that always holds the last commands, doorbells, completions and events; empty: none"},
    {"record", "", "File to which all that the card does is recorded from now on; empty: none"},
};

} // namespace

extern "C" {

size_t cx_core_property_count(void) { return std::size(kProperties); }
const struct cx_property *cx_core_property(size_t index) {
    return index < std::size(kProperties) ? &kProperties[index] : nullptr;
}
}
