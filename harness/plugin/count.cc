// SPDX-License-Identifier: GPL-2.0-or-later
// A TCG plugin that counts how often each guest instruction runs. It knows nothing of symbols or packets: at
// each mark of the guest it hands the counts of the addresses to its listener, who knows the rest.
//
//   -plugin count.so,socket=PATH[,host=on]
//
// With host=on it counts nothing itself: QEMU runs under callgrind, which counts between the marks "begin
// NAME" and "end NAME".
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <valgrind/callgrind.h>

extern "C" {
#include <qemu-plugin.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
}

#include "protocol.h"

namespace niclab::counting {
namespace {

constexpr size_t kSlotsPerBoard = 1 << 16;

/// One counter for each instruction ever translated, by its virtual address. Generated code adds to them
/// without a call; scoreboards cannot grow, so there is one for every few thousand instructions.
class Counters {
  public:
    qemu_plugin_u64 counter_of(uint64_t address) {
        std::lock_guard lock(mutex_);
        auto [entry, fresh] = slots_.try_emplace(address, static_cast<uint32_t>(addresses_.size()));
        if (fresh) {
            addresses_.push_back(address);
            last_.push_back(0);
            if (entry->second % kSlotsPerBoard == 0)
                boards_.push_back(qemu_plugin_scoreboard_new(kSlotsPerBoard * sizeof(uint64_t)));
        }
        return {boards_[entry->second / kSlotsPerBoard], entry->second % kSlotsPerBoard * sizeof(uint64_t)};
    }

    /// What ran since the last call.
    std::vector<AddressCount> take() {
        std::lock_guard lock(mutex_);
        std::vector<AddressCount> ran;
        for (size_t slot = 0; slot < addresses_.size(); ++slot) {
            const auto *values = static_cast<const uint64_t *>(
                qemu_plugin_scoreboard_find(boards_[slot / kSlotsPerBoard], /*vcpu_index=*/0));
            uint64_t now = values[slot % kSlotsPerBoard];
            if (now != last_[slot]) ran.push_back({addresses_[slot], now - last_[slot]});
            last_[slot] = now;
        }
        return ran;
    }

  private:
    std::mutex mutex_;
    std::unordered_map<uint64_t, uint32_t> slots_;
    std::vector<uint64_t> addresses_;
    std::vector<uint64_t> last_;
    std::vector<qemu_plugin_scoreboard *> boards_;
};

/// The four registers of a mark.
struct MarkRegisters {
    qemu_plugin_register *rdi, *rsi, *rdx, *rcx;
};

qemu_plugin_id_t own_id;
bool is_counting = false;
bool counts_host = false;
int listener = -1;
Counters counters;
MarkRegisters registers;

qemu_plugin_register *find_register(const GArray *all, std::string_view name) {
    for (guint i = 0; i < all->len; ++i) {
        const auto &each = g_array_index(all, qemu_plugin_reg_descriptor, i);
        if (name == each.name) return each.handle;
    }
    return nullptr;
}

uint64_t value_of(qemu_plugin_register *handle) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    uint64_t value = 0;
    if (handle && qemu_plugin_read_register(handle, bytes) == sizeof value)
        std::memcpy(&value, bytes->data, sizeof value);
    return value;
}

/// Nothing when the guest names memory it has not, or more than is allowed.
std::string guest_memory(uint64_t address, uint64_t length, uint64_t limit) {
    if (length == 0 || length > limit) return {};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    if (!qemu_plugin_read_memory_vaddr(address, bytes, length)) return {};
    return {reinterpret_cast<const char *>(bytes->data), bytes->len};
}

bool send_all(const void *data, size_t length) {
    const char *at = static_cast<const char *>(data);
    while (length > 0) {
        ssize_t sent = send(listener, at, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        length -= static_cast<size_t>(sent);
    }
    return true;
}

bool wait_for_answer() {
    char answer;
    ssize_t got;
    do
        got = recv(listener, &answer, 1, 0);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb *block);

/// What was translated before counts nothing and is thrown away.
void start_counting(qemu_plugin_id_t id) {
    is_counting = true;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
}

void tell_callgrind(const std::string &text) {
    if (text.starts_with("begin ")) {
        CALLGRIND_START_INSTRUMENTATION;
        CALLGRIND_ZERO_STATS;
    } else if (text.starts_with("end ")) {
        CALLGRIND_DUMP_STATS_AT(text.c_str());
        CALLGRIND_STOP_INSTRUMENTATION;
    }
}

/// Runs on the guest's CPU, so virtual time stands still; QEMU's monitor answers all the same.
void on_mark(unsigned, void *) {
    if (listener < 0) return;
    if (!is_counting && !counts_host) qemu_plugin_reset(own_id, start_counting);
    std::string text = guest_memory(value_of(registers.rdi), value_of(registers.rsi), kLongestText);
    if (counts_host) tell_callgrind(text);
    std::string attachment =
        guest_memory(value_of(registers.rdx), value_of(registers.rcx), kLongestAttachment);
    std::vector<AddressCount> ran = counters.take();
    MarkHeader header = {kMarkMagic, static_cast<uint32_t>(text.size()),
                         static_cast<uint32_t>(attachment.size()), static_cast<uint32_t>(ran.size())};
    bool heard = send_all(&header, sizeof header) && send_all(text.data(), text.size()) &&
                 send_all(attachment.data(), attachment.size()) &&
                 send_all(ran.data(), ran.size() * sizeof(AddressCount)) && wait_for_answer();
    if (heard) return;
    close(listener);
    listener = -1;
}

bool is_mark(const qemu_plugin_insn *instruction) {
    unsigned char code[sizeof kMarkCode];
    return qemu_plugin_insn_size(instruction) == sizeof code &&
           qemu_plugin_insn_data(instruction, code, sizeof code) == sizeof code &&
           std::memcmp(code, kMarkCode, sizeof code) == 0;
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb *block) {
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
        qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        if (is_counting)
            qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
                instruction, QEMU_PLUGIN_INLINE_ADD_U64,
                counters.counter_of(qemu_plugin_insn_vaddr(instruction)), 1);
        if (is_mark(instruction))
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, QEMU_PLUGIN_CB_R_REGS, nullptr);
    }
}

void on_cpu(qemu_plugin_id_t, unsigned) {
    g_autoptr(GArray) all = qemu_plugin_get_registers();
    registers = {find_register(all, "rdi"), find_register(all, "rsi"), find_register(all, "rdx"),
                 find_register(all, "rcx")};
}

bool connect_to(const std::string &path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return false;
    path.copy(address.sun_path, path.size());
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return listener >= 0 && connect(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0;
}

} // namespace
} // namespace niclab::counting

extern "C" QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                                      char **argv) {
    using namespace niclab::counting;
    constexpr std::string_view kSocket = "socket=";
    std::string path;
    for (int i = 0; i < argc; ++i) {
        std::string_view word = argv[i];
        if (word == "host=on") {
            counts_host = true;
            continue;
        }
        if (!word.starts_with(kSocket)) {
            std::fprintf(stderr, "count: unknown argument '%s'\n", argv[i]);
            return -1;
        }
        path = word.substr(kSocket.size());
    }
    if (!info->system_emulation || info->system.max_vcpus != 1) {
        std::fprintf(stderr, "count: exactly one CPU can be counted\n");
        return -1;
    }
    if (!connect_to(path)) {
        std::fprintf(stderr, "count: nobody listens at '%s': %s\n", path.c_str(), std::strerror(errno));
        return -1;
    }
    own_id = id;
    qemu_plugin_register_vcpu_init_cb(id, on_cpu);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
