// SPDX-License-Identifier: GPL-2.0-or-later
// The commands that build flow tables. What the walk relies on is checked here: levels rise, ranges are
// disjoint, targets exist.
#include <algorithm>
#include <optional>

#include "connectx/device.h"
#include "connectx/handlers.h"

namespace niclab::connectx {
namespace {

constexpr u32 kSynScope = 0x5d0001, kSynTable = 0x5d0002, kSynTableSize = 0x5d0003, kSynTableLevel = 0x5d0004,
              kSynTableFlags = 0x5d0005, kSynTableFull = 0x5d0006, kSynTableUsed = 0x5d0007,
              kSynTableGroups = 0x5d0008, kSynMissAction = 0x5d0009, kSynMissTable = 0x5d000a,
              kSynMissLevel = 0x5d000b, kSynModify = 0x5d000c, kSynUnderlay = 0x5d000d,
              kSynRootMode = 0x5d000e;
constexpr u32 kSynGroupRange = 0x5d0011, kSynGroupOverlap = 0x5d0012, kSynGroupCriteria = 0x5d0013,
              kSynGroupFull = 0x5d0014, kSynGroup = 0x5d0015, kSynGroupUsed = 0x5d0016;
constexpr u32 kSynEntryIndex = 0x5d0021, kSynEntryAction = 0x5d0022, kSynEntryCount = 0x5d0023,
              kSynEntryList = 0x5d0024, kSynEntryTir = 0x5d0025, kSynEntryTable = 0x5d0026,
              kSynEntryLevel = 0x5d0027, kSynEntryType = 0x5d0028, kSynEntryFull = 0x5d0029,
              kSynEntry = 0x5d002a, kSynEntryMode = 0x5d002b, kSynEntryMask = 0x5d002c,
              kSynEntryGroup = 0x5d002d, kSynEntryCounter = 0x5d002e;

constexpr u16 kModeSet = 0, kModeModify = 1, kModeDisconnect = 1;

// What a rule may ask about; the other bits of the blocks are reserved or not offered. Of what a tunnel
// carries, those are the addresses and tags of layer 2 and the time to live.
constexpr MatchKey matchable() {
    constexpr u32 kTags = 1u << MatchL2L4::cvlan_tag.lo | 1u << MatchL2L4::svlan_tag.lo;
    MatchKey words{};
    words.fill(~0u);
    words[6] = MatchL2L4::ttl_hoplimit.mask();
    u32 *inside = words.data() + kLayerWords;
    inside[0] = inside[2] = inside[3] = inside[6] = 0;
    inside[1] = MatchL2L4::ethertype.mask();
    inside[4] &= ~kTags;
    return words;
}

// Only the NIC receive tables of the card's own vport exist.
bool in_scope(const Request &request) {
    auto in = request.view<FlowTableIn>();
    return in.get(FlowTableIn::table_type) == static_cast<u32>(TableType::nic_rx) &&
           !in.get(FlowTableIn::other_vport) && in.get(FlowTableIn::vport_number) == 0;
}

FlowTable *named_table(Device &device, const Request &request) {
    return device.steering.tables.find(request.view<FlowTableIn>().get(FlowTableIn::table_id));
}

MatchKey load_match(const u8 *raw) {
    MatchKey key;
    for (usize i = 0; i < kLayerWords; ++i) {
        key[i] = load_be32(raw + 4 * i);
        key[kLayerWords + i] = load_be32(raw + kMatchInner + 4 * i);
    }
    return key;
}

struct Miss {
    MissAction action;
    u32 table;
};

Reply read_miss(Device &device, ConstView<FlowTableContext> context, u32 level, Miss &miss) {
    u32 action = context.get(FlowTableContext::table_miss_action);
    miss = {static_cast<MissAction>(action), 0};
    if (miss.action == MissAction::drop) return kOk;
    if (miss.action != MissAction::table) return fail(Status::bad_parameter, kSynMissAction);
    miss.table = context.get(FlowTableContext::table_miss_id);
    const FlowTable *next = device.steering.tables.find(miss.table);
    if (!next) return fail(Status::bad_resource, kSynMissTable);
    if (next->level <= level) return fail(Status::bad_parameter, kSynMissLevel);
    return kOk;
}

void set_miss(Device &device, FlowTable &table, const Miss &miss) {
    if (miss.action == MissAction::table) ++device.steering.tables.find(miss.table)->users;
    if (table.miss == MissAction::table) --device.steering.tables.find(table.miss_table)->users;
    table.miss = miss.action;
    table.miss_table = miss.table;
}

} // namespace

// ---- Tables
// -------------------------------------------------------------------------------------------------------------
Reply create_flow_table(Device &device, const Request &request, const Response &response) {
    if (!in_scope(request)) return fail(Status::bad_parameter, kSynScope);
    auto context = request.view<FlowTableContext>(CreateFlowTableIn::context);
    if (context.get(FlowTableContext::reformat_en) || context.get(FlowTableContext::decap_en) ||
        context.get(FlowTableContext::termination_table))
        return fail(Status::bad_parameter, kSynTableFlags);
    u32 log_size = context.get(FlowTableContext::log_size), level = context.get(FlowTableContext::level);
    if (log_size > kLogMaxTableSize) return fail(Status::bad_parameter, kSynTableSize);
    if (level >= kTableLevels) return fail(Status::bad_parameter, kSynTableLevel);
    Miss miss;
    if (Reply reply = read_miss(device, context, level, miss); reply.status != Status::ok) return reply;

    auto table = std::make_unique<FlowTable>();
    table->level = static_cast<u8>(level);
    table->log_size = static_cast<u8>(log_size);
    u32 number;
    FlowTable *added = device.steering.tables.add(std::move(table), number);
    if (!added) return fail(Status::no_resources, kSynTableFull);
    set_miss(device, *added, miss);
    response.view<ObjectOut>().set(ObjectOut::number, number);
    return kOk;
}

Reply modify_flow_table(Device &device, const Request &request, const Response &) {
    if (!in_scope(request)) return fail(Status::bad_parameter, kSynScope);
    FlowTable *table = named_table(device, request);
    if (!table) return fail(Status::bad_resource, kSynTable);
    auto in = request.view<ModifyFlowTableIn>();
    if (in.get(ModifyFlowTableIn::select_lag)) return fail(Status::bad_parameter, kSynModify);
    if (!in.get(ModifyFlowTableIn::select_miss)) return kOk;
    Miss miss;
    auto context = request.view<FlowTableContext>(ModifyFlowTableIn::context);
    if (Reply reply = read_miss(device, context, table->level, miss); reply.status != Status::ok)
        return reply;
    set_miss(device, *table, miss);
    return kOk;
}

// The root may go, as drivers take their last table away without disconnecting it first: frames are dropped
// then.
Reply destroy_flow_table(Device &device, const Request &request, const Response &) {
    if (!in_scope(request)) return fail(Status::bad_parameter, kSynScope);
    FlowTable *table = named_table(device, request);
    if (!table) return fail(Status::bad_resource, kSynTable);
    if (table->users) return fail(Status::bad_resource_state, kSynTableUsed);
    if (!table->groups.empty()) return fail(Status::bad_resource_state, kSynTableGroups);
    set_miss(device, *table, {MissAction::drop, 0});
    u32 number = request.view<FlowTableIn>().get(FlowTableIn::table_id);
    if (device.steering.root == number) device.steering.root = 0;
    device.steering.tables.remove(number);
    return kOk;
}

Reply set_flow_table_root(Device &device, const Request &request, const Response &) {
    if (!in_scope(request)) return fail(Status::bad_parameter, kSynScope);
    if (request.view<SetFlowTableRootIn>().get(SetFlowTableRootIn::underlay_qpn))
        return fail(Status::bad_parameter, kSynUnderlay);
    if (request.op_mod > kModeDisconnect) return fail(Status::bad_parameter, kSynRootMode);
    u32 number = request.view<FlowTableIn>().get(FlowTableIn::table_id);
    if (!device.steering.tables.find(number)) return fail(Status::bad_resource, kSynTable);
    if (request.op_mod == kModeSet)
        device.steering.root = number;
    else if (device.steering.root == number)
        device.steering.root = 0;
    return kOk;
}

// ---- Groups
// -------------------------------------------------------------------------------------------------------------
namespace {

// A criteria mask that asks only about what the card looks at.
std::optional<MatchKey> read_criteria(const Request &request) {
    u32 enabled = request.view<CreateFlowGroupIn>().get(CreateFlowGroupIn::match_criteria_enable);
    if (enabled & ~(CreateFlowGroupIn::kOuter | CreateFlowGroupIn::kInner)) return {};
    MatchKey mask = load_match(request.bytes.data() + CreateFlowGroupIn::match_criteria);
    if (!(enabled & CreateFlowGroupIn::kOuter)) std::fill_n(mask.begin(), kLayerWords, 0);
    if (!(enabled & CreateFlowGroupIn::kInner)) std::fill_n(mask.begin() + kLayerWords, kLayerWords, 0);
    constexpr MatchKey kKnown = matchable();
    for (usize i = 0; i < kMatchWords; ++i)
        if (mask[i] & ~kKnown[i]) return {};
    return mask;
}

FlowGroup *named_group(Device &device, u32 table, u32 number) {
    FlowGroup *group = device.steering.groups.find(number);
    return group && group->table == table ? group : nullptr;
}

} // namespace

Reply create_flow_group(Device &device, const Request &request, const Response &response) {
    if (!in_scope(request)) return fail(Status::bad_parameter, kSynScope);
    FlowTable *table = named_table(device, request);
    if (!table) return fail(Status::bad_resource, kSynTable);
    auto in = request.view<CreateFlowGroupIn>();
    u32 first = in.get(CreateFlowGroupIn::start_flow_index), last = in.get(CreateFlowGroupIn::end_flow_index);
    if (first > last || last >> table->log_size) return fail(Status::bad_parameter, kSynGroupRange);
    auto behind = std::find_if(table->groups.begin(), table->groups.end(),
                               [&](const FlowGroup *group) { return group->last >= first; });
    if (behind != table->groups.end() && (*behind)->first <= last)
        return fail(Status::bad_parameter, kSynGroupOverlap);
    std::optional<MatchKey> mask = read_criteria(request);
    if (!mask) return fail(Status::bad_parameter, kSynGroupCriteria);

    u32 number, table_id = request.view<FlowTableIn>().get(FlowTableIn::table_id);
    FlowGroup *added =
        device.steering.groups.add(std::make_unique<FlowGroup>(table_id, first, last, *mask), number);
    if (!added) return fail(Status::no_resources, kSynGroupFull);
    table->groups.insert(behind, added);
    response.view<ObjectOut>().set(ObjectOut::number, number);
    return kOk;
}

Reply destroy_flow_group(Device &device, const Request &request, const Response &) {
    if (!in_scope(request)) return fail(Status::bad_parameter, kSynScope);
    FlowTable *table = named_table(device, request);
    if (!table) return fail(Status::bad_resource, kSynTable);
    u32 number = request.view<DestroyFlowGroupIn>().get(DestroyFlowGroupIn::group_id);
    FlowGroup *group = named_group(device, request.view<FlowTableIn>().get(FlowTableIn::table_id), number);
    if (!group) return fail(Status::bad_resource, kSynGroup);
    if (group->entries()) return fail(Status::bad_resource_state, kSynGroupUsed);
    std::erase(table->groups, group);
    device.steering.groups.remove(number);
    return kOk;
}

// ---- Entries
// ------------------------------------------------------------------------------------------------------------
namespace {

struct Rule {
    u32 action, flow_tag;
    std::vector<FlowTarget> targets;
    FlowCounter *counter = nullptr;
};

Reply check_target(Device &device, const FlowTable &table, const FlowTarget &target) {
    if (target.type == Destination::tir)
        return device.tirs.find(target.id) ? kOk : fail(Status::bad_resource, kSynEntryTir);
    if (target.type != Destination::table) return fail(Status::bad_parameter, kSynEntryType);
    const FlowTable *next = device.steering.tables.find(target.id);
    if (!next) return fail(Status::bad_resource, kSynEntryTable);
    return next->level > table.level ? kOk : fail(Status::bad_parameter, kSynEntryLevel);
}

// Destinations, then at most one counter: as many as the action asks for.
Reply read_lists(Device &device, const Request &request, const FlowTable &table, Rule &rule) {
    auto in = request.view<SetFteIn>();
    u32 count = in.get(SetFteIn::destination_list_size), counters = in.get(SetFteIn::flow_counter_list_size);
    if (count > kMaxDestinations || counters > 1) return fail(Status::bad_parameter, kSynEntryCount);
    usize counter_at = SetFteIn::destination + count * FlowDestination::bytes;
    if (!request.has(SetFteIn::destination,
                     counter_at + counters * FlowCounterEntry::bytes - SetFteIn::destination))
        return fail(Status::bad_parameter, kSynEntryList);
    for (u32 i = 0; i < count; ++i) {
        auto raw = request.view<FlowDestination>(SetFteIn::destination + i * FlowDestination::bytes);
        FlowTarget target{static_cast<Destination>(raw.get(FlowDestination::type)),
                          raw.get(FlowDestination::id)};
        if (Reply reply = check_target(device, table, target); reply.status != Status::ok) return reply;
        rule.targets.push_back(target);
    }
    if (counters == 0) return kOk;
    u32 id = request.view<FlowCounterEntry>(counter_at).get(FlowCounterEntry::flow_counter_id);
    rule.counter = device.steering.counters.find(id);
    return rule.counter ? kOk : fail(Status::bad_resource, kSynEntryCounter);
}

// A rule forwards to at least one place, or drops. It names a counter when, and only when, it counts.
bool is_sane(const Rule &rule) {
    if (((rule.action & flow_action::kCount) != 0) != (rule.counter != nullptr)) return false;
    u32 action = rule.action & ~flow_action::kCount;
    if (action == flow_action::kDrop) return rule.targets.empty();
    return (action & ~flow_action::kAllow) == flow_action::kForward && !rule.targets.empty();
}

u32 *users_of(Device &device, const FlowTarget &target) {
    if (target.type == Destination::tir) {
        Tir *tir = device.tirs.find(target.id);
        return tir ? &tir->users : nullptr;
    }
    FlowTable *table = device.steering.tables.find(target.id);
    return table ? &table->users : nullptr;
}

void use_targets(Device &device, const std::vector<FlowTarget> &targets, int change) {
    for (const FlowTarget &target : targets)
        if (u32 *users = users_of(device, target)) *users += static_cast<u32>(change);
}

void apply(Device &device, FlowEntry &entry, Rule rule) {
    use_targets(device, rule.targets, 1);
    use_targets(device, entry.targets, -1);
    if (rule.counter) ++rule.counter->users;
    if (entry.counter) --entry.counter->users;
    entry.counter = rule.counter;
    entry.action = rule.action;
    entry.flow_tag = rule.flow_tag;
    entry.targets = std::move(rule.targets);
}

FlowEntry *find_entry(FlowTable &table, u32 index) {
    auto at = table.entries.find(index);
    return at == table.entries.end() ? nullptr : at->second.get();
}

void remove_entry(Device &device, FlowTable &table, FlowEntry &entry) {
    use_targets(device, entry.targets, -1);
    if (entry.counter) --entry.counter->users;
    device.steering.groups.find(entry.group)->remove(entry);
    --device.steering.entries;
    table.entries.erase(entry.index);
}

// Takes what the mask selects from the command and the rest from the entry as it stands.
Reply modify_entry(Device &device, const Request &request, FlowTable &table, FlowEntry *entry) {
    auto in = request.view<SetFteIn>();
    u32 mask = in.get(SetFteIn::modify_enable_mask);
    if (!entry) return fail(Status::bad_index, kSynEntry);
    constexpr u32 kKnown = SetFteIn::kModifyAction | SetFteIn::kModifyTag | SetFteIn::kModifyDestinations |
                           SetFteIn::kModifyCounters;
    if (mask & ~kKnown) return fail(Status::bad_parameter, kSynEntryMask);
    Rule given{in.get(SetFteIn::action), in.get(SetFteIn::flow_tag), {}};
    if (mask & (SetFteIn::kModifyDestinations | SetFteIn::kModifyCounters))
        if (Reply reply = read_lists(device, request, table, given); reply.status != Status::ok) return reply;
    Rule rule{entry->action, entry->flow_tag, {}, entry->counter};
    if (mask & SetFteIn::kModifyAction) rule.action = given.action;
    if (mask & SetFteIn::kModifyTag) rule.flow_tag = given.flow_tag;
    if (mask & SetFteIn::kModifyDestinations)
        rule.targets = std::move(given.targets);
    else if (rule.action & flow_action::kForward)
        rule.targets = entry->targets;
    if (mask & SetFteIn::kModifyCounters)
        rule.counter = given.counter;
    else if (!(rule.action & flow_action::kCount))
        rule.counter = nullptr;
    if (!is_sane(rule)) return fail(Status::bad_parameter, kSynEntryAction);
    apply(device, *entry, std::move(rule));
    return kOk;
}

} // namespace

Reply set_flow_table_entry(Device &device, const Request &request, const Response &) {
    if (!in_scope(request)) return fail(Status::bad_parameter, kSynScope);
    FlowTable *table = named_table(device, request);
    if (!table) return fail(Status::bad_resource, kSynTable);
    auto in = request.view<SetFteIn>();
    u32 index = in.get(SetFteIn::flow_index), group_id = in.get(SetFteIn::group_id);
    FlowEntry *old = find_entry(*table, index);
    if (request.op_mod == kModeModify) return modify_entry(device, request, *table, old);
    if (request.op_mod != kModeSet) return fail(Status::bad_parameter, kSynEntryMode);
    FlowGroup *group = named_group(device, request.view<FlowTableIn>().get(FlowTableIn::table_id), group_id);
    if (!group) return fail(Status::bad_resource, kSynEntryGroup);
    if (index < group->first || index > group->last) return fail(Status::bad_index, kSynEntryIndex);
    Rule rule{in.get(SetFteIn::action), in.get(SetFteIn::flow_tag), {}};
    if (Reply reply = read_lists(device, request, *table, rule); reply.status != Status::ok) return reply;
    if (!is_sane(rule)) return fail(Status::bad_parameter, kSynEntryAction);
    if (!old && device.steering.entries >= kMaxEntries) return fail(Status::no_resources, kSynEntryFull);

    if (old) remove_entry(device, *table, *old);
    auto entry = std::make_unique<FlowEntry>();
    entry->index = index;
    entry->group = group_id;
    entry->value = group->compress(load_match(request.bytes.data() + SetFteIn::match_value));
    apply(device, *entry, std::move(rule));
    group->insert(*entry);
    table->entries[index] = std::move(entry);
    ++device.steering.entries;
    return kOk;
}

Reply delete_flow_table_entry(Device &device, const Request &request, const Response &) {
    if (!in_scope(request)) return fail(Status::bad_parameter, kSynScope);
    FlowTable *table = named_table(device, request);
    if (!table) return fail(Status::bad_resource, kSynTable);
    FlowEntry *entry = find_entry(*table, request.view<DeleteFteIn>().get(DeleteFteIn::flow_index));
    if (!entry) return fail(Status::bad_index, kSynEntry);
    remove_entry(device, *table, *entry);
    return kOk;
}

} // namespace niclab::connectx
