// SPDX-License-Identifier: GPL-2.0-or-later
#include "matrix_verbs.h"

#include "niclab/paths.h"

namespace niclab::cli {
namespace {

void add_db(CLI::App *verb, std::string &db) {
    db = build_root() / "nightly.sqlite";
    verb->add_option("--db", db, "File that keeps results over nights")
        ->type_name("FILE")
        ->default_str("build/nightly.sqlite");
}

} // namespace

CLI::App *add_matrix(CLI::App &app, MatrixOptions &options) {
    CLI::App *verb =
        app.add_subcommand("matrix", "Run the cells of a file: suites on many kinds of machines");
    verb->add_option("file", options.file, "The matrix, in YAML")->required()->type_name("FILE");
    CLI::Option *list =
        verb->add_flag("--list", options.list, "Show cells, costs and what is pruned; run nothing");
    CLI::Option *only = verb->add_option("--only", options.only,
                                         "Only cells with this in their name; * and ? match the whole name")
                            ->type_name("PATTERN");
    CLI::Option *host = verb->add_option("--host", options.host,
                                         "Only the share of this host, one of the file's libvirt URIs")
                            ->type_name("URI");
    verb->add_flag("--resume", options.resume, "Go on with the night that was cut off")
        ->excludes(list)
        ->excludes(only)
        ->excludes(host);
    verb->add_option("--jobs", options.jobs, "Cells that run at the same time")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    add_db(verb, options.db);
    return verb;
}

CLI::App *add_report(CLI::App &app, ReportOptions &options) {
    CLI::App *verb = app.add_subcommand("report", "Write the nights as one page");
    options.since = "30";
    options.output = build_root() / "nightly.html";
    verb->add_option("--since", options.since, "So many nights, or those from a day on (2026-12-31)")
        ->type_name("NIGHTS|DAY")
        ->capture_default_str();
    verb->add_option("-o,--output", options.output, "The page")
        ->type_name("FILE")
        ->default_str("build/nightly.html");
    add_db(verb, options.db);
    return verb;
}

CLI::App *add_bisect(CLI::App &app, BisectOptions &options) {
    CLI::App *verb = app.add_subcommand("bisect", "Find the first commit at which a cell fails");
    options.file = source_root() / "tests/nightly.yaml";
    verb->add_option("cell", options.cell, "Name of the cell, as matrix --list shows it")->required();
    verb->add_option("good", options.good, "A commit at which it passes")->required();
    verb->add_option("bad", options.bad, "A later one at which it fails")->required();
    verb->add_option("--file", options.file, "The matrix whose quarantine and limit hold")
        ->type_name("FILE")
        ->default_str("tests/nightly.yaml");
    add_db(verb, options.db);
    return verb;
}

} // namespace niclab::cli
