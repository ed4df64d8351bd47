// SPDX-License-Identifier: GPL-2.0-or-later
// A card that is up, and what a driver sends to reach its registers.
#pragma once

#include <gtest/gtest.h>

#include "spec/clock_registers.h"
#include "spec/management_registers.h"
#include "spec/queues.h"
#include "spec/registers.h"
#include "support/command_driver.h"

namespace niclab::test {

// Numbers of registers as the manual prints them.
constexpr u16 kPmtu = 0x5003, kPtys = 0x5004, kPaos = 0x5006, kPfcc = 0x5007, kPpcnt = 0x5008,
              kHostEndianness = 0x7004, kPcam = 0x507f, kNodeDesc = 0x6001, kMcam = 0x907f, kQcam = 0x4019,
              kPmlp = 0x5002, kPplm = 0x5023, kPddr = 0x5031, kPcmr = 0x5041, kMtcap = 0x9009, kMtmp = 0x900a,
              kMcia = 0x9014, kMlcr = 0x902b, kMpcnt = 0x9051, kMtpps = 0x9053, kMtppse = 0x9054,
              kMtutc = 0x9055, kMcqs = 0x9060, kMcqi = 0x9061;
constexpr u16 kWrite = 0, kRead = 1;
constexpr usize kImage = 0x10;

class PortTest : public testing::Test {
  protected:
    explicit PortTest(cx_config config = default_config()) : host(config) { driver.bring_up(); }

    static CommandInput access(u16 id, u16 op, usize bytes) {
        CommandInput input(Opcode::access_register, kImage + bytes, op);
        return input.set(AccessRegisterIn::register_id, id);
    }
    CommandResult run(const CommandInput &input) { return driver.run(input, input.raw.size()); }
    CommandResult must(const CommandInput &input) { return driver.must(input, input.raw.size()); }

    static CommandInput paos(u16 op, u32 admin = 0, u32 ase = 0) {
        return access(kPaos, op, 0x10)
            .set(Paos::local_port, 1, kImage)
            .set(Paos::admin_status, admin, kImage)
            .set(Paos::ase, ase, kImage);
    }
    static CommandInput pmtu(u16 op, u32 admin = 0) {
        return access(kPmtu, op, 0x10).set(Pmtu::local_port, 1, kImage).set(Pmtu::admin_mtu, admin, kImage);
    }
    static CommandInput ptys(u16 op, u32 extended = 0, u32 legacy = 0, bool forced = false) {
        return access(kPtys, op, 0x40)
            .set(Ptys::local_port, 1, kImage)
            .set(Ptys::proto_mask, 4, kImage)
            .set(Ptys::an_disable_admin, forced, kImage)
            .set(Ptys::ext_eth_proto_admin, extended, kImage)
            .set(Ptys::eth_proto_admin, legacy, kImage);
    }
    static CommandInput pfcc(u16 op, u32 word8 = 0, u32 wordc = 0) {
        CommandInput input = access(kPfcc, op, 0x20).set(Pfcc::local_port, 1, kImage);
        store_be32(input.raw.data() + kImage + 0x08, word8);
        store_be32(input.raw.data() + kImage + 0x0c, wordc);
        return input;
    }
    static CommandInput ppcnt(u32 group, u32 prio = 0, u32 clear = 0) {
        return access(kPpcnt, kRead, 0x100)
            .set(Ppcnt::local_port, 1, kImage)
            .set(Ppcnt::grp, group, kImage)
            .set(Ppcnt::prio_tc, prio, kImage)
            .set(Ppcnt::clr, clear, kImage);
    }
    u64 count(u32 group, u32 offset, u32 prio = 0) {
        return load_be64(must(ppcnt(group, prio)).out.data() + kImage + 8 + offset);
    }
    void set_up(bool up) { must(paos(kWrite, up ? 1 : 2, 1)); }
    u32 vport_state() {
        return driver.must({Opcode::query_vport_state, 0x10}, 0x10).get(QueryVportStateOut::state);
    }

    // An EQ, for port events unless others are named; the types of the sub-events that arrived.
    void listen(u64 events = 1 << 9) {
        page = driver.alloc(Opcode::alloc_uar);
        ring = host.memory.allocate(kPage);
        CommandInput create(Opcode::create_eq, CreateEqIn::bytes);
        create.set(EqContext::log_eq_size, 6, CreateEqIn::context)
            .set(EqContext::uar_page, page, CreateEqIn::context);
        driver.must(create.put_be64(CreateEqIn::event_bitmask, events).put_be64(CreateEqIn::pas, ring));
        seen = host.counter("events");
    }
    std::vector<u32> port_events() {
        std::vector<u32> sub_types;
        for (u64 i = 0; i < host.counter("events") - seen; ++i)
            sub_types.push_back(host.memory.bytes(ring + i * kEqeBytes + 3, 1)[0]);
        return sub_types;
    }

    std::vector<u8> event(u64 index) { return host.memory.bytes(ring + index * kEqeBytes, kEqeBytes); }

    FakeHost host;
    CommandDriver driver{host};
    u32 page = 0;
    u64 ring = 0, seen = 0;
};

} // namespace niclab::test
