// SPDX-License-Identifier: GPL-2.0-or-later
// The verbs of the niclab command. Each gives the exit status of the process.
#pragma once

#include <string>
#include <vector>

#include "niclab/result.h"

namespace niclab::cli {

constexpr int kUsageStatus = 2;

struct UpOptions {
    std::string kernel = "6.1";
    unsigned cpus = 2;
    unsigned memory_mib = 1024;
    std::string driver = "mlx5_core"; ///< or "niclab" or "none"
    std::string nic = "connectx";     ///< QEMU's name of the card; another than connectx has its own driver
    unsigned nics = 2;
    bool gdb = false; ///< QEMU listens for a debugger
    std::string iommu = "intel", mode = "strict";
    bool caching_mode = false;
    std::string pcap;                 ///< file for the frames of all cards
    std::vector<std::string> command; ///< empty: a shell on the console
};
int up(const UpOptions &options);
/// Of cards that `up` can plug.
std::vector<std::string> nic_models();

struct DemoOptions {
    std::string kernel = "6.1";
};
int demo(const DemoOptions &options);

struct ReloadOptions {
    int vm = 0;             ///< process that keeps the VM; 0: the only one
    std::string parameters; ///< of the module
};
int reload(const ReloadOptions &options);

struct BenchOptions {
    std::vector<std::string> scenarios, drivers, iommus; ///< none: the short set; "all": every row
    std::string kernel = "6.1";
    unsigned repetitions = 2;
    unsigned top = 0;
    std::string json; ///< file for the result; empty: only in the run's folder
    bool list = false;
    bool host = false;                ///< what QEMU executes, not the guest
    bool wall = false;                ///< by the clock
    std::vector<std::string> compare; ///< two result files: nothing is measured
};
int bench(const BenchOptions &options);

struct DescribeOptions {
    std::vector<std::string> words; ///< a topic; none: all of them
    bool json = false;
    bool markdown = false; ///< the reference page of the documentation, without words
};
int describe(const DescribeOptions &options);

struct CountersOptions {
    int vm = 0;
    unsigned seconds = 0; ///< 0: since the card's start
    bool json = false;
    bool all = false; ///< also those that are zero
};
int counters(const CountersOptions &options);

struct TraceOptions {
    int vm = 0;
    unsigned seconds = 0;            ///< 0: until a signal comes
    std::vector<std::string> filter; ///< kinds of events that are printed; none: all
    std::string pcap;                ///< file for the frames
    std::vector<std::string> read;   ///< records to show; none: a running VM
};
int trace(const TraceOptions &options);

struct DoctorOptions {
    bool fix = false;
    bool json = false;
};
int doctor(const DoctorOptions &options);

struct MatrixOptions {
    std::string file;
    std::string db;   ///< file of results
    std::string only; ///< part of a cell's name, or a pattern
    std::string host; ///< whose share is run; empty: all cells
    unsigned jobs = 1;
    bool list = false, resume = false;
};
int matrix(const MatrixOptions &options);

struct ReportOptions {
    std::string db, output;
    std::string since; ///< a number of nights, or a day
};
int report(const ReportOptions &options);

struct BisectOptions {
    std::string cell, good, bad;
    std::string db, file; ///< the file says which tests are quarantined
};
int bisect(const BisectOptions &options);

/// Prints the sentence; 128 + signal number when a signal is why, else 1.
int failure(const std::string &why);

} // namespace niclab::cli
