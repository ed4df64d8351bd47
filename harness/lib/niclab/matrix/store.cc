// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/matrix/store.h"

#include <fmt/format.h>

#include "niclab/matrix/sql.h"

using nlohmann::json;

namespace niclab::matrix {
namespace {

constexpr int kPatience = 10'000; // ms for another process's transaction

constexpr const char *kTables[] = {
    "CREATE TABLE night (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, began INTEGER NOT NULL,"
    " ended INTEGER NOT NULL, plan TEXT NOT NULL, plan_text TEXT NOT NULL, commit_name TEXT NOT NULL,"
    " dirty INTEGER NOT NULL, environment TEXT NOT NULL)",
    "CREATE TABLE cell (id INTEGER PRIMARY KEY, night INTEGER NOT NULL REFERENCES night, name TEXT NOT NULL,"
    " state INTEGER NOT NULL, expected REAL NOT NULL, folder TEXT NOT NULL, passed INTEGER NOT NULL,"
    " why TEXT NOT NULL, seconds REAL NOT NULL, environment TEXT NOT NULL)",
    "CREATE INDEX cell_of_night ON cell (night)",
    "CREATE INDEX cell_by_name ON cell (name)",
    "CREATE TABLE pruned (night INTEGER NOT NULL REFERENCES night, name TEXT NOT NULL, reason TEXT NOT NULL)",
    "CREATE TABLE test (cell INTEGER NOT NULL REFERENCES cell, name TEXT NOT NULL, verdict TEXT NOT NULL,"
    " seconds REAL NOT NULL, message TEXT NOT NULL, line INTEGER NOT NULL)",
    "CREATE INDEX test_of_cell ON test (cell)",
    "CREATE TABLE measurement (cell INTEGER NOT NULL REFERENCES cell, scenario TEXT NOT NULL,"
    " metric TEXT NOT NULL, value REAL NOT NULL)",
    "CREATE INDEX measurement_of_cell ON measurement (cell)",
};

/// Logs hold any bytes; JSON and the page want text.
std::string as_text(const json &value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json from_text(const std::string &text) {
    json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
    return value.is_object() ? value : json::object();
}

constexpr const char *kNightColumns =
    "SELECT id, kind, began, ended, plan, plan_text, commit_name, dirty, environment FROM night ";

NightInfo night_of(const Sql &row) {
    NightInfo night;
    night.id = row.integer(0);
    night.kind = static_cast<NightKind>(row.integer(1));
    night.began = row.integer(2);
    night.ended = row.integer(3);
    night.plan = row.text(4);
    night.plan_text = row.text(5);
    night.commit = row.text(6);
    night.dirty = row.integer(7) != 0;
    night.environment = from_text(row.text(8));
    return night;
}

} // namespace

Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path &file) {
    std::error_code failed;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), failed);
    sqlite3 *handle = nullptr;
    int code = sqlite3_open_v2(file.c_str(), &handle,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
    std::unique_ptr<Store> store(new Store(file, handle));
    if (code != SQLITE_OK) return sql_error(handle, file);
    sqlite3_busy_timeout(handle, kPatience);
    NICLAB_TRY(store->prepare_tables());
    return store;
}

Store::~Store() { sqlite3_close(handle_); }

/// Two processes may meet a new file at once: who comes first makes the tables.
Status Store::prepare_tables() {
    Transaction all(handle_, file_);
    NICLAB_TRY(all.begin());
    Sql asked(handle_, file_, "PRAGMA user_version");
    asked.step();
    NICLAB_TRY(asked.status());
    std::int64_t version = asked.integer(0);
    NICLAB_TRY(asked.run());
    if (version != 0 && version != kSchemaVersion)
        return Error{fmt::format(
            "{} has tables of version {}, and this niclab knows version {}; name another file with --db",
            file_.string(), version, kSchemaVersion)};
    if (version == kSchemaVersion) return all.commit();
    Sql others(handle_, file_, "SELECT count(*) FROM sqlite_master");
    others.step();
    bool empty = others.integer(0) == 0;
    NICLAB_TRY(others.run());
    if (!empty)
        return Error{fmt::format("{} is another program's file; name another one with --db", file_.string())};
    for (const char *table : kTables)
        NICLAB_TRY(Sql(handle_, file_, table).run());
    NICLAB_TRY(Sql(handle_, file_, fmt::format("PRAGMA user_version = {}", kSchemaVersion).c_str()).run());
    return all.commit();
}

Status Store::begin(Night &night) {
    std::lock_guard lock(mutex_);
    Transaction all(handle_, file_);
    NICLAB_TRY(all.begin());
    NightInfo &info = night.info;
    Sql row(handle_, file_,
            "INSERT INTO night (kind, began, ended, plan, plan_text, commit_name, dirty, environment)"
            " VALUES (?, ?, 0, ?, ?, ?, ?, ?)");
    row.bind(static_cast<std::int64_t>(info.kind))
        .bind(info.began)
        .bind(info.plan)
        .bind(info.plan_text)
        .bind(info.commit);
    NICLAB_TRY(row.bind(static_cast<std::int64_t>(info.dirty)).bind(as_text(info.environment)).run());
    info.id = sqlite3_last_insert_rowid(handle_);
    Sql cells(handle_, file_,
              "INSERT INTO cell (night, name, state, expected, folder, passed, why, seconds, environment)"
              " VALUES (?, ?, 0, ?, '', 0, '', 0, '{}')");
    for (CellRow &cell : night.cells) {
        NICLAB_TRY(cells.again().bind(info.id).bind(cell.name).bind(cell.expected_minutes).run());
        cell.id = sqlite3_last_insert_rowid(handle_);
    }
    Sql pruned(handle_, file_, "INSERT INTO pruned VALUES (?, ?, ?)");
    for (const PrunedCell &each : night.pruned)
        NICLAB_TRY(pruned.again().bind(info.id).bind(each.name).bind(each.reason).run());
    return all.commit();
}

Status Store::set_running(std::int64_t cell, const std::string &folder) {
    std::lock_guard lock(mutex_);
    return Sql(handle_, file_, "UPDATE cell SET state = 1, folder = ? WHERE id = ?")
        .bind(folder)
        .bind(cell)
        .run();
}

Status Store::finish(std::int64_t cell, const CellResult &result) {
    std::lock_guard lock(mutex_);
    Transaction all(handle_, file_);
    NICLAB_TRY(all.begin());
    Sql row(handle_, file_,
            "UPDATE cell SET state = 2, passed = ?, why = ?, seconds = ?, environment = ? WHERE id = ?");
    row.bind(static_cast<std::int64_t>(result.passed)).bind(result.why).bind(result.seconds);
    NICLAB_TRY(row.bind(as_text(result.environment)).bind(cell).run());
    Sql tests(handle_, file_, "INSERT INTO test VALUES (?, ?, ?, ?, ?, ?)");
    for (const TestResult &test : result.tests) {
        tests.again().bind(cell).bind(test.name).bind(name(test.verdict)).bind(test.seconds);
        NICLAB_TRY(tests.bind(test.message).bind(static_cast<std::int64_t>(test.line)).run());
    }
    Sql numbers(handle_, file_, "INSERT INTO measurement VALUES (?, ?, ?, ?)");
    for (const Measurement &each : result.measurements)
        NICLAB_TRY(numbers.again().bind(cell).bind(each.scenario).bind(each.metric).bind(each.value).run());
    return all.commit();
}

Status Store::end_night(std::int64_t night, std::int64_t when) {
    std::lock_guard lock(mutex_);
    return Sql(handle_, file_, "UPDATE night SET ended = ? WHERE id = ?").bind(when).bind(night).run();
}

Result<Night> Store::read_night(NightInfo info) {
    Night night{std::move(info), {}, {}};
    Sql cells(handle_, file_,
              "SELECT id, name, state, expected, folder, passed, why, seconds, environment FROM cell"
              " WHERE night = ? ORDER BY id");
    for (cells.bind(night.info.id); cells.step();) {
        CellRow row{cells.integer(0), cells.text(1), static_cast<CellState>(cells.integer(2)),
                    cells.real(3),    cells.text(4), {}};
        row.result.passed = cells.integer(5) != 0;
        row.result.why = cells.text(6);
        row.result.seconds = cells.real(7);
        row.result.environment = from_text(cells.text(8));
        night.cells.push_back(std::move(row));
    }
    NICLAB_TRY(cells.status());
    Sql tests(handle_, file_,
              "SELECT name, verdict, seconds, message, line FROM test WHERE cell = ? ORDER BY rowid");
    Sql numbers(handle_, file_,
                "SELECT scenario, metric, value FROM measurement WHERE cell = ? ORDER BY rowid");
    for (CellRow &cell : night.cells) {
        for (tests.again().bind(cell.id); tests.step();)
            cell.result.tests.push_back({tests.text(0), verdict_named(tests.text(1)), tests.real(2),
                                         tests.text(3), static_cast<size_t>(tests.integer(4))});
        for (numbers.again().bind(cell.id); numbers.step();)
            cell.result.measurements.push_back({numbers.text(0), numbers.text(1), numbers.real(2)});
    }
    NICLAB_TRY(tests.status());
    NICLAB_TRY(numbers.status());
    Sql pruned(handle_, file_, "SELECT name, reason FROM pruned WHERE night = ? ORDER BY rowid");
    for (pruned.bind(night.info.id); pruned.step();)
        night.pruned.push_back({pruned.text(0), pruned.text(1)});
    NICLAB_TRY(pruned.status());
    return night;
}

Result<std::vector<Night>> Store::nights(size_t count, std::int64_t since) {
    std::lock_guard lock(mutex_);
    std::string text = std::string(kNightColumns) + "WHERE kind = 0 AND began >= ? ORDER BY id DESC LIMIT ?";
    Sql rows(handle_, file_, text.c_str());
    std::vector<NightInfo> infos;
    for (rows.bind(since).bind(static_cast<std::int64_t>(count)); rows.step();)
        infos.push_back(night_of(rows));
    NICLAB_TRY(rows.status());
    std::vector<Night> result;
    for (auto info = infos.rbegin(); info != infos.rend(); ++info)
        result.push_back(NICLAB_TRY(read_night(*info)));
    return result;
}

Result<std::optional<Night>> Store::last_night() {
    std::vector<Night> last = NICLAB_TRY(nights(1));
    return last.empty() ? std::optional<Night>() : std::optional<Night>(std::move(last.front()));
}

Result<std::optional<bool>> Store::known(const std::string &cell, const std::string &commit) {
    std::lock_guard lock(mutex_);
    Sql row(handle_, file_,
            "SELECT cell.passed FROM cell JOIN night ON night.id = cell.night"
            " WHERE cell.name = ? AND night.commit_name = ? AND night.dirty = 0 AND cell.state = 2"
            " ORDER BY cell.id DESC LIMIT 1");
    std::optional<bool> answer;
    if (row.bind(cell).bind(commit).step()) answer = row.integer(0) != 0;
    NICLAB_TRY(row.status());
    return answer;
}

} // namespace niclab::matrix
