// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/rss.h"

#include "spec/objects.h"

namespace niclab::driver {

namespace {

struct HashedTraffic {
    Traffic kind;
    u32 l3_type, l4_type, fields;
};
constexpr u32 kIps = hash_field::kSrcIp | hash_field::kDstIp;
constexpr u32 kIpsAndPorts = kIps | hash_field::kSrcPort | hash_field::kDstPort;
constexpr u32 kIpv4 = 0, kIpv6 = 1, kTcp = 0, kUdp = 1;
constexpr HashedTraffic kHashed[] = {
    {Traffic::tcp4, kIpv4, kTcp, kIpsAndPorts}, {Traffic::tcp6, kIpv6, kTcp, kIpsAndPorts},
    {Traffic::udp4, kIpv4, kUdp, kIpsAndPorts}, {Traffic::udp6, kIpv6, kUdp, kIpsAndPorts},
    {Traffic::ipv4, kIpv4, kTcp, kIps},         {Traffic::ipv6, kIpv6, kTcp, kIps},
};

} // namespace

Result<void> Rss::create(const Resources &resources, const u32 *rqns, unsigned queues, u32 entries,
                         const u8 *key) {
    resources_ = &resources;
    TRY(create_table(rqns, queues, entries));
    for (const HashedTraffic &row : kHashed)
        TRY(create_hashed(row.kind, key));
    return create_direct(rqns[0]);
}

Result<void> Rss::create_table(const u32 *rqns, unsigned queues, u32 entries) {
    auto create = TRY(LargeCommand::make(Opcode::create_rqt, 0, CreateRqtIn::bytes + 4 * usize{entries}));
    create.input<RqtContext>(CreateRqtIn::context)
        .set(RqtContext::rqt_max_size, entries)
        .set(RqtContext::rqt_actual_size, entries);
    u8 *list = create.in() + CreateRqtIn::context + RqtContext::rq_num;
    for (u32 i = 0; i < entries; ++i)
        store_be32(list + 4 * i, rqns[i % queues]);
    table_ = TRY(Object::make(resources_->commands(), create.bytes(), Opcode::destroy_rqt));
    return {};
}

Result<void> Rss::create_hashed(Traffic kind, const u8 *key) {
    const HashedTraffic &row = kHashed[static_cast<unsigned>(kind)];
    Command<CreateTirIn::bytes> create(Opcode::create_tir);
    create.input<TirContext>(CreateTirIn::context)
        .set(TirContext::disp_type, static_cast<u32>(TirDispatch::indirect))
        .set(TirContext::indirect_table, table_.number())
        .set(TirContext::rx_hash_fn, static_cast<u32>(HashFunction::toeplitz))
        .set(TirContext::transport_domain, resources_->transport_domain())
        .set(TirContext::hash_l3_type, row.l3_type)
        .set(TirContext::hash_l4_type, row.l4_type)
        .set(TirContext::hash_fields, row.fields);
    copy_bytes(create.in() + CreateTirIn::context + TirContext::toeplitz_key, key,
               TirContext::kToeplitzKeyBytes);
    tirs_[static_cast<unsigned>(kind)] =
        TRY(Object::make(resources_->commands(), {create.in(), CreateTirIn::bytes}, Opcode::destroy_tir));
    return {};
}

Result<void> Rss::create_direct(u32 rqn) {
    Command<CreateTirIn::bytes> create(Opcode::create_tir);
    create.input<TirContext>(CreateTirIn::context)
        .set(TirContext::disp_type, static_cast<u32>(TirDispatch::direct))
        .set(TirContext::inline_rqn, rqn)
        .set(TirContext::transport_domain, resources_->transport_domain());
    tirs_[static_cast<unsigned>(Traffic::other)] =
        TRY(Object::make(resources_->commands(), {create.in(), CreateTirIn::bytes}, Opcode::destroy_tir));
    return {};
}

} // namespace niclab::driver
