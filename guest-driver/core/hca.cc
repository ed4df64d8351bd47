// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/hca.h"

#include "core/registers.h"
#include "spec/caps.h"
#include "spec/init_segment.h"

namespace niclab::driver {

namespace {

constexpr u32 kIssi = 1;
constexpr u32 kPortTypeEthernet = 1;
constexpr u32 kFieldOuterIpVersion = 1u << 28, kFieldEthertype = 1u << 29, kFieldDmac = 1u << 31;
constexpr unsigned kHealthMisses = 3; // looks at an unchanged counter before it is worth a message

u16 capability_op_mod(CapType type, u16 mode) { return static_cast<u16>(static_cast<u16>(type) << 1 | mode); }

Result<LargeCommand> query_capabilities(CommandInterface &commands, CapType type, u16 mode) {
    auto query = TRY(LargeCommand::make(Opcode::query_hca_cap, capability_op_mod(type, mode),
                                        QueryHcaCapIn::bytes, QueryHcaCapOut::bytes));
    TRY(query.execute(commands));
    return query;
}

} // namespace

Result<Owned<Hca>> Hca::make(plat *platform) {
    auto self = TRY(Owned<Hca>::make());
    self->commands_ = TRY(CommandInterface::make(platform));
    self->pages_ = TRY(Pages::make(*self->commands_));
    TRY(self->enable());
    TRY(self->initialize());
    TRY(self->read_general_capabilities());
    TRY(self->read_ethernet_capabilities());
    TRY(self->read_steering_capabilities());
    TRY(self->read_identity());
    return self;
}

Hca::~Hca() {
    if (initialized_) {
        Command<0x10> teardown(Opcode::teardown_hca); // profile 0: graceful
        if (!teardown.execute(*commands_).ok()) commands_->give_up("TEARDOWN_HCA failed");
    }
    if (!enabled_) return;
    pages_->take_all();
    Command<EnableHcaIn::bytes> disable(Opcode::disable_hca);
    if (!disable.execute(*commands_).ok()) commands_->give_up("DISABLE_HCA failed");
}

Result<void> Hca::enable() {
    Command<EnableHcaIn::bytes> enable(Opcode::enable_hca);
    TRY(enable.execute(*commands_));
    enabled_ = true;
    TRY(choose_issi());
    TRY(pages_->give_wanted(QueryPages::boot));
    TRY(set_host_endianness());
    return set_general_capabilities();
}

Result<void> Hca::choose_issi() {
    Command<CommandIn::bytes, QueryIssiOut::bytes> query(Opcode::query_issi);
    TRY(query.execute(*commands_));
    bool supported = query.output<QueryIssiOut>().get(QueryIssiOut::supported_issi_dw0) & 1u << kIssi;
    TRY(require(supported, "interface revision (ISSI) 1"));
    Command<SetIssiIn::bytes> set(Opcode::set_issi);
    set.input<SetIssiIn>().set(SetIssiIn::current_issi, kIssi);
    return set.execute(*commands_);
}

Result<void> Hca::set_host_endianness() {
    u8 image[HostEndianness::bytes] = {};
    image[0] = HostEndianness::kLittle;
    return access_register(*commands_, RegisterId::host_endianness, RegisterOp::write,
                           {image, sizeof(image)});
}

// The current image goes back with what a driver of 4 KiB pages without mailbox signatures wants.
Result<void> Hca::set_general_capabilities() {
    constexpr u32 kLogQueuePairs = 18;
    auto maximum = TRY(query_capabilities(*commands_, CapType::general, QueryHcaCapIn::kMaximum));
    auto current = TRY(query_capabilities(*commands_, CapType::general, QueryHcaCapIn::kCurrent));
    auto set = TRY(LargeCommand::make(Opcode::set_hca_cap, capability_op_mod(CapType::general, 0),
                                      QueryHcaCapOut::bytes));
    copy_bytes(set.in() + QueryHcaCapOut::capability, current.out() + QueryHcaCapOut::capability, kCapBytes);
    u32 most = maximum.output<GeneralCaps>(QueryHcaCapOut::capability).get(GeneralCaps::log_max_qp);
    set.input<GeneralCaps>(QueryHcaCapOut::capability)
        .set(GeneralCaps::pkey_table_size, 0) // 128 entries
        .set(GeneralCaps::log_max_qp, min(kLogQueuePairs, most))
        .set(GeneralCaps::cmdif_checksum, 0)
        .set(GeneralCaps::log_uar_page_sz, 0);
    return set.execute(*commands_);
}

Result<void> Hca::initialize() {
    TRY(pages_->give_wanted(QueryPages::init));
    Command<0x10> init(Opcode::init_hca);
    TRY(init.execute(*commands_));
    initialized_ = true;
    return {};
}

Result<void> Hca::require(bool has, const char *what) {
    if (has) return {};
    plat_log(commands_->platform(), PLAT_ERROR, "the card lacks %s", what);
    return Err{-kEopnotsupp};
}

Result<void> Hca::read_general_capabilities() {
    auto query = TRY(query_capabilities(*commands_, CapType::general, QueryHcaCapIn::kCurrent));
    auto caps = query.output<GeneralCaps>(QueryHcaCapOut::capability);
    TRY(require(caps.get(GeneralCaps::port_type) == kPortTypeEthernet, "an Ethernet port"));
    TRY(require(caps.get(GeneralCaps::eth_net_offloads), "Ethernet offloads"));
    TRY(require(caps.get(GeneralCaps::nic_flow_table), "NIC flow tables"));
    u32 listed = caps.get(GeneralCaps::max_num_eqs);
    capabilities_.event_queues = listed ? listed : 1u << caps.get(GeneralCaps::log_max_eq);
    capabilities_.rss_table_entries = 1u << caps.get(GeneralCaps::log_max_rqt_size);
    capabilities_.max_queue_entries = 1u << caps.get(GeneralCaps::log_max_wq_sz);
    capabilities_.vport_lists = {1u << caps.get(GeneralCaps::log_max_current_uc_list),
                                 1u << caps.get(GeneralCaps::log_max_current_mc_list)};
    return {};
}

Result<void> Hca::read_ethernet_capabilities() {
    auto query = TRY(query_capabilities(*commands_, CapType::ethernet, QueryHcaCapIn::kCurrent));
    auto caps = query.output<EthernetCaps>(QueryHcaCapOut::capability);
    TRY(require(caps.get(EthernetCaps::csum_cap), "checksum offload"));
    TRY(require(caps.get(EthernetCaps::vlan_cap), "VLAN offload"));
    u32 log_lso = caps.get(EthernetCaps::max_lso_cap);
    TRY(require(log_lso != 0, "large send offload"));
    capabilities_.max_lso_bytes = 1u << log_lso;
    auto rule = static_cast<InlineRule>(caps.get(EthernetCaps::wqe_inline_mode));
    bool no_inline = rule == InlineRule::none;
    if (rule == InlineRule::vport_context) no_inline = TRY(query_min_inline_mode(*commands_)) == 0;
    return require(no_inline, "sending without inlined headers");
}

Result<void> Hca::read_steering_capabilities() {
    constexpr u32 kLevels = 3, kLogLargestTable = 13; // see steering.cc
    auto query = TRY(query_capabilities(*commands_, CapType::flow_table, QueryHcaCapIn::kCurrent));
    auto caps = query.output<FlowTableCaps>(QueryHcaCapOut::capability + FlowTableCaps::kNicRx);
    bool tables = caps.get(FlowTableCaps::ft_support) && caps.get(FlowTableCaps::modify_root) &&
                  caps.get(FlowTableCaps::max_ft_level) >= kLevels &&
                  caps.get(FlowTableCaps::log_max_ft_size) >= kLogLargestTable;
    TRY(require(tables, "receive flow tables of the needed depth and size"));
    u32 fields = caps.get(FlowTableCaps::field_support);
    TRY(require((fields & kFieldDmac) && (fields & (kFieldEthertype | kFieldOuterIpVersion)),
                "matching on MAC and protocol"));
    capabilities_.match_ip_version = fields & kFieldOuterIpVersion;
    return {};
}

Result<void> Hca::read_identity() {
    Command<CommandIn::bytes, QueryAdapterOut::bytes> adapter(Opcode::query_adapter);
    TRY(adapter.execute(*commands_));
    for (unsigned i = 0; i + 1 < sizeof(board_id_); ++i) {
        u8 c = adapter.out()[QueryAdapterOut::psid + i];
        board_id_[i] = c == 0 || (c > 0x20 && c < 0x7f) ? static_cast<char>(c) : '?';
    }
    mac_ = TRY(query_mac(*commands_));
    capabilities_.max_mtu = TRY(query_max_mtu(*commands_));
    return require(capabilities_.max_mtu > kMtuOverhead, "a usable MTU");
}

bool Hca::check_health() {
    plat *platform = commands_->platform();
    if (commands_->dead()) return false;
    u32 words[HealthBuffer::bytes / 4];
    for (u32 at = 0; at < HealthBuffer::bytes; at += 4)
        words[at / 4] = plat_read32(platform, init_segment::kHealthBuffer + at);
    auto field = [&](Field<HealthBuffer> f) { return (words[f.dword / 4] >> f.lo) & f.mask(); };
    u32 interface = plat_read32(platform, init_segment::kCmdqAddrLow) >> 8 & 7;
    if (field(HealthBuffer::fw_version) == 0xffffffff) {
        commands_->give_up("it left the bus (registers read all ones)");
    } else if (interface == init_segment::kNicInterfaceDisabled ||
               interface == init_segment::kNicInterfaceReset) {
        commands_->give_up("firmware closed the interface");
    } else if (field(HealthBuffer::synd) && field(HealthBuffer::rfr)) {
        plat_log(platform, PLAT_ERROR, "firmware failed: syndrome 0x%x, extended 0x%x",
                 field(HealthBuffer::synd), field(HealthBuffer::ext_synd));
        commands_->give_up("firmware asks for a reset");
    }
    u32 count = plat_read32(platform, init_segment::kHealthCounter);
    same_health_count_ = count == last_health_count_ ? same_health_count_ + 1 : 0;
    last_health_count_ = count;
    if (same_health_count_ == kHealthMisses)
        plat_log(platform, PLAT_WARN, "the card's health counter stands still");
    return !commands_->dead();
}

} // namespace niclab::driver
