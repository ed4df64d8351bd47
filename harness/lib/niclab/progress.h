// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <string>

namespace niclab {

/// Where lines about long steps go; standard error unless set.
void set_progress(std::function<void(const std::string &)> sink);
void progress(const std::string &line);

} // namespace niclab
