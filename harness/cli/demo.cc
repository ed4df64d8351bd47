// SPDX-License-Identifier: GPL-2.0-or-later
// One VM, two ports joined inside it, first the stock driver and then ours. Every cell of the table is
// measured; a cell that could not be says why.
#include <cstdio>

#include <fmt/format.h>

#include "commands.h"
#include "niclab/artifacts.h"
#include "niclab/guest.h"
#include "niclab/lifeline.h"
#include "niclab/progress.h"

namespace niclab::cli {
namespace {

constexpr unsigned kPings = 10;
constexpr std::uint64_t kTransferBytes = 64ull << 20;

struct Cell {
    std::string text = "not run";
    bool good = false;
};

struct Row {
    std::string driver;
    Cell link, ping, transfer, speed, complaints, faults;
    std::vector<std::string> reasons;
    bool good() const {
        return link.good && ping.good && transfer.good && speed.good && complaints.good && faults.good;
    }
};

std::array<std::pair<const char *, const Cell *>, 6> cells(const Row &row) {
    return {{{"link", &row.link},
             {"ping", &row.ping},
             {"transfer", &row.transfer},
             {"Mbit/s", &row.speed},
             {"complaints", &row.complaints},
             {"DMA faults", &row.faults}}};
}

bool bring_up(Guest &guest, Row &row) {
    Status up = guest.connect(row.driver);
    row.link = {up.ok() ? "up" : "down", up.ok()};
    if (!up.ok()) row.reasons.push_back("link: " + up.why());
    return up.ok();
}

void ping_both_ways(Guest &guest, Row &row) {
    unsigned sent = 0, received = 0;
    for (Side from : {Side::a, Side::b}) {
        auto ping = guest.ping(from, kPings);
        sent += kPings;
        if (ping.ok())
            received += ping->received;
        else
            row.reasons.push_back("ping: " + ping.why());
    }
    row.ping = {fmt::format("{}/{}", received, sent), received == sent};
}

void transfer_both_ways(Guest &guest, Row &row) {
    unsigned matched = 0;
    std::string speeds;
    for (Side from : {Side::a, Side::b}) {
        TransferOptions options;
        options.bytes = kTransferBytes;
        options.seed = from == Side::a ? 1 : 2;
        auto sent = guest.transfer(from, options);
        std::string why = sent.ok() ? sent->why : sent.why();
        if (!why.empty()) row.reasons.push_back("transfer: " + why);
        matched += sent.ok() && sent->hash_match && sent->bytes == kTransferBytes;
        speeds +=
            fmt::format("{}{:.0f}", speeds.empty() ? "" : " / ", sent.ok() ? sent->mbit_per_second : 0.0);
    }
    row.transfer = {fmt::format("{} of 2 x 64 MiB", matched), matched == 2};
    row.speed = {speeds, matched == 2};
}

Result<std::uint64_t> card_faults(Vm &vm) {
    std::uint64_t faults = 0;
    for (size_t card : {0, 1}) {
        Counters counters = NICLAB_TRY(vm.card_counters(card));
        faults += counters["dma_faults"];
    }
    return faults;
}

/// The card counts a fault that it met; the kernel logs one that the vIOMMU reported. The larger number
/// tells.
void judge_logs(Vm &vm, size_t console_from, std::uint64_t faults_before, Row &row) {
    auto all = vm.kernel_complaints(console_from);
    size_t logged = count(all, ComplaintKind::dma_fault);
    row.complaints = {std::to_string(all.size() - logged), all.size() == logged};
    auto counted = card_faults(vm);
    if (!counted.ok()) {
        row.reasons.push_back("DMA faults: " + counted.why());
        row.faults = {"unknown", false};
    } else {
        std::uint64_t faults = std::max<std::uint64_t>(*counted - faults_before, logged);
        row.faults = {std::to_string(faults), faults == 0};
    }
    for (const Complaint &complaint : all)
        row.reasons.push_back("kernel: " + complaint.fingerprint);
}

Row run_driver(Guest &guest, const std::string &driver) {
    Row row;
    row.driver = driver;
    Vm &vm = guest.vm();
    size_t console_from = vm.console_size();
    auto faults_before = card_faults(vm);
    progress(fmt::format("{}: link", driver));
    if (bring_up(guest, row)) {
        progress(fmt::format("{}: ping both ways", driver));
        ping_both_ways(guest, row);
        progress(fmt::format("{}: 64 MiB each way over TCP, every byte checked", driver));
        transfer_both_ways(guest, row);
    }
    // The driver's way out is part of what is judged.
    for (Side side : {Side::a, Side::b})
        if (Status left = guest.unbind_driver(side); !left.ok()) row.reasons.push_back(left.why());
    judge_logs(vm, console_from, faults_before.ok() ? *faults_before : 0, row);
    return row;
}

void print_table(const std::vector<Row> &rows) {
    std::puts("");
    std::puts(fmt::format("{:<10} {:<8} {:<8} {:<17} {:<12} {:<11} {}", "driver", "link", "ping", "transfer",
                          "Mbit/s", "complaints", "DMA faults")
                  .c_str());
    for (const Row &row : rows)
        std::puts(fmt::format("{:<10} {:<8} {:<8} {:<17} {:<12} {:<11} {}", row.driver, row.link.text,
                              row.ping.text, row.transfer.text, row.speed.text, row.complaints.text,
                              row.faults.text)
                      .c_str());
    std::puts("");
    for (const Row &row : rows)
        for (const std::string &reason : row.reasons)
            std::puts(fmt::format("{}: {}", row.driver, reason).c_str());
}

nlohmann::json as_json(const std::vector<Row> &rows) {
    nlohmann::json result = nlohmann::json::array();
    for (const Row &row : rows) {
        nlohmann::json entry = {{"driver", row.driver}, {"good", row.good()}, {"reasons", row.reasons}};
        for (const auto &[name, cell] : cells(row))
            entry[name] = {{"text", cell->text}, {"good", cell->good}};
        result.push_back(entry);
    }
    return result;
}

/// The stock driver's row does not depend on ours being built.
Result<std::vector<Row>> measure(const DemoOptions &options, const RunFolder &run) {
    VmSpec spec = two_connectx_ports(options.kernel);
    progress("preparing QEMU with our card, the guest's image and our driver");
    NICLAB_TRY(fill_artifacts(spec));
    Status driver_there = add_driver(spec);
    if (Lifeline::interrupted()) return Lifeline::interruption();
    progress(fmt::format("booting Linux {} with two joined ConnectX ports behind a vIOMMU", options.kernel));
    Vm vm = NICLAB_TRY(Vm::boot(spec, run));
    Guest guest(vm);
    NICLAB_TRY(guest.prepare());
    std::vector<Row> rows = {run_driver(guest, "mlx5_core")};
    if (driver_there.ok() && vm.alive())
        rows.push_back(run_driver(guest, "niclab"));
    else
        rows.push_back(
            {"niclab", {}, {}, {}, {}, {}, {}, {driver_there.ok() ? "the VM ended" : driver_there.why()}});
    if (Lifeline::interrupted()) return Lifeline::interruption();
    return rows;
}

} // namespace

int demo(const DemoOptions &options) {
    auto run = RunFolder::create("demo");
    if (!run.ok()) return failure(run.why());
    auto rows = measure(options, *run);
    if (!rows.ok()) return failure(rows.why() + "; see " + run->path().string());
    (void)run->write_json("result.json", as_json(*rows));
    print_table(*rows);
    std::puts(fmt::format("everything about this run: {}", run->path().string()).c_str());
    for (const Row &row : *rows)
        if (!row.good()) return 1;
    return 0;
}

} // namespace niclab::cli
