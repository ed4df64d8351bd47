// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flow.h"

namespace niclab::driver {

namespace {
constexpr u16 kDisconnect = 1; // op_mod of SET_FLOW_TABLE_ROOT
}

FlowTable::~FlowTable() {
    if (!commands_) return;
    remove_root();
    while (group_count_ > 0)
        destroy_group(groups_[--group_count_].number);
    Command<0x40> destroy(Opcode::destroy_flow_table);
    destroy.input<FlowTableIn>().set(FlowTableIn::table_id, number_);
    if (!destroy.execute(*commands_).ok() && !commands_->dead())
        plat_log(commands_->platform(), PLAT_WARN, "flow table %u stays behind in the card", number_);
}

Result<void> FlowTable::create(CommandInterface &commands, unsigned level, unsigned log_size) {
    Command<CreateFlowTableIn::bytes> create(Opcode::create_flow_table);
    create.input<FlowTableIn>().set(FlowTableIn::table_type, static_cast<u32>(TableType::nic_rx));
    create.input<FlowTableContext>(CreateFlowTableIn::context)
        .set(FlowTableContext::table_miss_action, static_cast<u32>(MissAction::drop))
        .set(FlowTableContext::level, level)
        .set(FlowTableContext::log_size, log_size);
    TRY(create.execute(commands));
    commands_ = &commands;
    number_ = create.output<ObjectOut>().get(ObjectOut::number);
    return {};
}

Result<void> FlowTable::add_group(u32 first, u32 last, const Match &mask) {
    if (group_count_ == kMostGroups) return Err{-kEnospc};
    auto create = TRY(LargeCommand::make(Opcode::create_flow_group, 0, CreateFlowGroupIn::bytes));
    create.input<FlowTableIn>().set(FlowTableIn::table_id, number_);
    create.input<CreateFlowGroupIn>()
        .set(CreateFlowGroupIn::start_flow_index, first)
        .set(CreateFlowGroupIn::end_flow_index, last)
        .set(CreateFlowGroupIn::match_criteria_enable, mask.empty() ? 0 : CreateFlowGroupIn::kOuter);
    copy_bytes(create.in() + CreateFlowGroupIn::match_criteria, mask.raw, sizeof(mask.raw));
    TRY(create.execute(*commands_));
    groups_[group_count_++] = {first, last, create.output<ObjectOut>().get(ObjectOut::number)};
    return {};
}

void FlowTable::destroy_group(u32 number) {
    Command<DestroyFlowGroupIn::bytes> destroy(Opcode::destroy_flow_group);
    destroy.input<FlowTableIn>().set(FlowTableIn::table_id, number_);
    destroy.input<DestroyFlowGroupIn>().set(DestroyFlowGroupIn::group_id, number);
    if (!destroy.execute(*commands_).ok() && !commands_->dead())
        plat_log(commands_->platform(), PLAT_WARN, "flow group %u stays behind in the card", number);
}

const FlowTable::Group *FlowTable::group_of(u32 index) const {
    for (unsigned i = 0; i < group_count_; ++i)
        if (index >= groups_[i].first && index <= groups_[i].last) return &groups_[i];
    return nullptr;
}

Result<void> FlowTable::set_entry(u32 index, const Match &value, FlowDestinationTo to) {
    const Group *group = group_of(index);
    if (!group) return Err{-kEinval};
    auto set =
        TRY(LargeCommand::make(Opcode::set_flow_table_entry, 0, SetFteIn::bytes + FlowDestination::bytes));
    set.input<FlowTableIn>().set(FlowTableIn::table_id, number_);
    set.input<SetFteIn>()
        .set(SetFteIn::flow_index, index)
        .set(SetFteIn::group_id, group->number)
        .set(SetFteIn::action, flow_action::kForward)
        .set(SetFteIn::destination_list_size, 1);
    copy_bytes(set.in() + SetFteIn::match_value, value.raw, sizeof(value.raw));
    set.input<FlowDestination>(SetFteIn::destination)
        .set(FlowDestination::type, static_cast<u32>(to.type))
        .set(FlowDestination::id, to.number);
    return set.execute(*commands_);
}

void FlowTable::delete_entry(u32 index) {
    Command<DeleteFteIn::bytes> remove(Opcode::delete_flow_table_entry);
    remove.input<FlowTableIn>().set(FlowTableIn::table_id, number_);
    remove.input<DeleteFteIn>().set(DeleteFteIn::flow_index, index);
    if (!remove.execute(*commands_).ok() && !commands_->dead())
        plat_log(commands_->platform(), PLAT_WARN, "entry %u of flow table %u stays behind in the card",
                 index, number_);
}

Result<void> FlowTable::make_root() {
    if (root_) return {};
    Command<SetFlowTableRootIn::bytes> set(Opcode::set_flow_table_root);
    set.input<FlowTableIn>().set(FlowTableIn::table_id, number_);
    TRY(set.execute(*commands_));
    root_ = true;
    return {};
}

void FlowTable::remove_root() {
    if (!root_) return;
    root_ = false;
    Command<SetFlowTableRootIn::bytes> set(Opcode::set_flow_table_root, kDisconnect);
    set.input<FlowTableIn>().set(FlowTableIn::table_id, number_);
    if (!set.execute(*commands_).ok() && !commands_->dead())
        plat_log(commands_->platform(), PLAT_WARN, "flow table %u is still the card's root", number_);
}

} // namespace niclab::driver
