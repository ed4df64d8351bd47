// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/command_interface.h"

#include "core/command_names.h"
#include "spec/hca.h"
#include "spec/init_segment.h"

namespace niclab::driver {

namespace {
constexpr unsigned kFirmwareBootMs = 120000, kFirmwareInitMs = 2000, kCommandMs = 60000;
constexpr unsigned kLookMs = 1000; // how long a lost command event may stay unnoticed
constexpr usize kOrdinaryBytes =
    6144; // the largest ordinary command is a capability image; destructors must not allocate
constexpr u32 kAllOnes = 0xffffffff; // what a card that left the bus answers
} // namespace

Result<Owned<CommandInterface>> CommandInterface::make(plat *platform) {
    auto self = TRY(Owned<CommandInterface>::make());
    self->platform_ = platform;
    TRY(self->wait_for_firmware(kFirmwareBootMs));

    u32 revision = plat_read32(platform, init_segment::kCmdifRev) >> 16;
    if (revision != init_segment::kCmdifRevision) {
        plat_log(platform, PLAT_ERROR, "command interface revision %u, the driver knows %u", revision,
                 init_segment::kCmdifRevision);
        return Err{-kEnodev};
    }
    u32 sizes = plat_read32(platform, init_segment::kCmdqAddrLow);
    unsigned log_entries = sizes >> 4 & 0xf;
    self->log_stride_ = sizes & 0xf;
    if (log_entries < 1 || log_entries > 5 || self->log_stride_ < 6 || log_entries + self->log_stride_ > 12) {
        plat_log(platform, PLAT_ERROR, "command queue of 2^%u entries, 2^%u bytes each, does not fit a page",
                 log_entries, self->log_stride_);
        return Err{-kEnodev};
    }
    self->page_ = TRY(DmaBlock::make(platform, kPageBytes));
    TRY(self->prepare_slot(self->ordinary_, 0));
    TRY(self->prepare_slot(self->pages_, (1u << log_entries) - 1));
    plat_write32(platform, init_segment::kCmdqAddrHigh, static_cast<u32>(self->page_.bus() >> 32));
    plat_write32(platform, init_segment::kCmdqAddrLow, static_cast<u32>(self->page_.bus()));
    TRY(self->wait_for_firmware(kFirmwareInitMs));
    return self;
}

// The card must not write into command memory that is about to be freed, whatever it believes is still
// outstanding.
CommandInterface::~CommandInterface() {
    if (page_.cpu() && !dead()) plat_stop_dma(platform_);
}

Result<void> CommandInterface::wait_for_firmware(unsigned limit_ms) {
    u64 deadline = plat_now_ms(platform_) + limit_ms;
    for (;;) {
        u32 initializing = plat_read32(platform_, init_segment::kInitializing);
        if (initializing == kAllOnes) {
            plat_log(platform_, PLAT_ERROR, "the card does not answer (registers read all ones)");
            return Err{-kEnodev};
        }
        if (!(initializing >> 31)) return {};
        if (plat_now_ms(platform_) >= deadline) {
            plat_log(platform_, PLAT_ERROR, "firmware still initializing after %u ms", limit_ms);
            return Err{-kEtimedout};
        }
        plat_sleep_ms(2);
    }
}

Result<void> CommandInterface::prepare_slot(Slot &slot, unsigned index) {
    slot.index = static_cast<u8>(index);
    slot.entry = page_.cpu() + (static_cast<usize>(index) << log_stride_);
    slot.mutex = TRY(Mutex::make());
    slot.finished = TRY(Signal::make());
    TRY(slot.in.reserve(platform_, kOrdinaryBytes));
    TRY(slot.out.reserve(platform_, kOrdinaryBytes));
    return {};
}

Result<void> CommandInterface::execute(ConstBytes in, Bytes out) {
    u16 opcode = load_be16(in.data);
    Slot &slot = opcode == static_cast<u16>(Opcode::manage_pages) ? pages_ : ordinary_;
    Lock lock(slot.mutex);
    if (dead()) return Err{-kEio};
    TRY(submit(slot, in, out));
    TRY(wait(slot, opcode));
    return collect(slot, in, out);
}

Result<void> CommandInterface::submit(Slot &slot, ConstBytes in, Bytes out) {
    ConstBytes in_rest{in.data + kCommandInlineBytes, in.size - kCommandInlineBytes};
    usize out_rest = out.size - kCommandInlineBytes;
    TRY(slot.in.reserve(platform_, in_rest.size));
    TRY(slot.out.reserve(platform_, out_rest));
    slot.token = slot.token == 0xff ? 1 : static_cast<u8>(slot.token + 1);
    slot.in.prepare(in_rest.size, slot.token);
    slot.in.write(in_rest);
    slot.out.prepare(out_rest, slot.token);

    u8 *entry = slot.entry;
    clear_bytes(entry, CommandEntry::bytes);
    copy_bytes(entry + CommandEntry::input_inline, in.data, kCommandInlineBytes);
    View<CommandEntry>(entry)
        .set(CommandEntry::type, kCommandTransportPcie)
        .set(CommandEntry::input_length, static_cast<u32>(in.size))
        .set(CommandEntry::input_mailbox, in_rest.size ? slot.in.bus() : 0)
        .set(CommandEntry::output_mailbox, out_rest ? slot.out.bus() : 0)
        .set(CommandEntry::output_length, static_cast<u32>(out.size))
        .set(CommandEntry::token, slot.token)
        .set(CommandEntry::status_own, kCommandOwnerDevice);
    u8 signature = 0xff; // the exclusive or of all 64 bytes is 0xff
    for (usize i = 0; i < CommandEntry::bytes; ++i)
        signature ^= entry[i];
    View<CommandEntry>(entry).set(CommandEntry::signature, signature);

    plat_before_ring(); // entry and mailboxes before the doorbell; pairs with the card fetching the entry
                        // after it
    plat_write32(platform_, init_segment::kCmdDoorbell, 1u << slot.index);
    return {};
}

Result<void> CommandInterface::wait(Slot &slot, u16 opcode) {
    u64 deadline = plat_now_ms(platform_) + kCommandMs;
    for (;;) {
        // In event mode every command takes exactly one signal, so signals do not pile up.
        bool signalled = load_acquire(events_) && slot.finished.wait(kLookMs);
        if (dead()) return Err{-kEio};
        if (!(load_shared_u8(slot.entry + CommandEntry::status_own_byte) & kCommandOwnerDevice)) break;
        if (signalled) continue;
        if (card_gone()) {
            give_up("the card left the bus (registers read all ones)");
            return Err{-kEio};
        }
        if (plat_now_ms(platform_) >= deadline) {
            plat_log(platform_, PLAT_ERROR, "%s (0x%x) not answered within %u ms", opcode_name(opcode),
                     opcode, kCommandMs);
            give_up("a command timed out");
            return Err{-kEtimedout};
        }
        if (!load_acquire(events_)) plat_sleep_ms(1);
    }
    plat_acquire(); // owner bit before outputs; pairs with the card writing the owner bit last
    return {};
}

Result<void> CommandInterface::collect(Slot &slot, ConstBytes in, Bytes out) {
    u16 opcode = load_be16(in.data), op_mod = load_be16(in.data + 6);
    u8 delivery = load_shared_u8(slot.entry + CommandEntry::status_own_byte) >> 1;
    if (delivery) {
        plat_log(platform_, PLAT_ERROR,
                 "%s (0x%x) op_mod 0x%x: the card could not take it, delivery status 0x%x",
                 opcode_name(opcode), opcode, op_mod, delivery);
        return Err{-kEio};
    }
    copy_bytes(out.data, slot.entry + CommandEntry::output_inline, kCommandInlineBytes);
    slot.out.read({out.data + kCommandInlineBytes, out.size - kCommandInlineBytes});
    ConstView<CommandOut> reply(out.data);
    StatusMeaning meaning = status_meaning(static_cast<u8>(reply.get(CommandOut::status)));
    if (meaning.status == Status::ok) return {};
    plat_log(platform_, PLAT_ERROR, "%s (0x%x) op_mod 0x%x failed: %s (0x%x), syndrome 0x%x",
             opcode_name(opcode), opcode, op_mod, meaning.text, static_cast<unsigned>(meaning.status),
             reply.get(CommandOut::syndrome));
    return Err{meaning.error};
}

void CommandInterface::finished(u32 entries) {
    if (entries & 1u << ordinary_.index) ordinary_.finished.raise();
    if (entries & 1u << pages_.index) pages_.finished.raise();
}

void CommandInterface::give_up(const char *why) {
    if (__atomic_exchange_n(&dead_, true, __ATOMIC_ACQ_REL)) return;
    plat_log(platform_, PLAT_ERROR, "card given up: %s", why);
    plat_stop_dma(platform_);
    ordinary_.finished.raise();
    pages_.finished.raise();
}

bool CommandInterface::card_gone() const {
    return plat_read32(platform_, init_segment::kHealthBuffer + HealthBuffer::fw_version.dword) == kAllOnes;
}

} // namespace niclab::driver
