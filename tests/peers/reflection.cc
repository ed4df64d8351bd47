// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers/reflection.h"

namespace niclab::scenarios {

Reflection::Command Reflection::reflector(std::size_t cut, const char *how) {
    Command command = {"/niclab/reflect", interface(Side::b), kReady, std::to_string(cut)};
    if (how) command.emplace_back(how);
    return command;
}

std::unique_ptr<Afterwards> Reflection::running(const Command &command) {
    need(vm().run({"rm", "-f", kReady}, 10s));
    int handle = need(guest().start(Side::b, command));
    auto end = std::make_unique<Afterwards>([this, handle]() -> Status {
        NICLAB_TRY(vm().run({"kill", std::to_string(handle)}, 10s));
        NICLAB_TRY(vm().wait(handle, "the XDP program to go", 20s));
        return guest().wait_link(Side::b);
    });
    CommandResult seen = need(vm().run({"/niclab/wire", "await", kReady, "--for-ms", "20000"}, 30s));
    EXPECT_TRUE(seen.ok()) << seen.err;
    need(guest().wait_link(Side::b));
    return end;
}

void Reflection::expect_reflection(std::size_t cut, const Command &command) {
    auto program = running(command);
    std::vector<std::string> wanted;
    auto seen = capture(Side::a, "src=02:00:00:77:00:01", 5, [&] {
        for (std::size_t size : {60u, 61u, 255u, 1000u, 1500u}) {
            Bytes frame =
                ethernet(kBroadcast, kLocalExperimental, pattern(size - 14, static_cast<unsigned>(size)));
            wanted.push_back(hex(frame));
            frame.insert(frame.begin(), static_cast<std::ptrdiff_t>(cut), 0xff); // starts like a broadcast
            need(guest().send_frame(Side::a, hex(frame)));
        }
    });
    std::vector<std::string> came;
    for (const CapturedFrame &frame : seen)
        came.push_back(hex(whole(frame)));
    EXPECT_EQ(came, wanted);
}

} // namespace niclab::scenarios
