// SPDX-License-Identifier: GPL-2.0-or-later
#include "niclab/matrix/sql.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace niclab::matrix {

Error sql_error(sqlite3 *handle, const std::filesystem::path &file) {
    int code = handle ? sqlite3_errcode(handle) : SQLITE_NOMEM;
    int cause = handle ? sqlite3_system_errno(handle) : 0;
    std::string name = file.string();
    switch (code & 0xff) {
    case SQLITE_FULL:
        return Error{fmt::format(
            "the disk is full, so {} keeps nothing more; free some space, what it has is kept", name)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return Error{
            fmt::format("another process holds {}; wait for its end, or name another file with --db", name)};
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return Error{
            fmt::format("{} is not a file of results; move it away, or name another one with --db", name)};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return Error{fmt::format("{} cannot be written{}; name another file with --db", name,
                                 cause ? fmt::format(" ({})", std::strerror(cause)) : std::string())};
    default:
        return Error{fmt::format("{}: {}{}; what it has is kept", name,
                                 handle ? sqlite3_errmsg(handle) : "no memory",
                                 cause ? fmt::format(" ({})", std::strerror(cause)) : std::string())};
    }
}

Sql::Sql(sqlite3 *handle, const std::filesystem::path &file, const char *text)
    : handle_(handle), file_(file) {
    note(sqlite3_prepare_v2(handle_, text, -1, &statement_, nullptr));
}

Sql::~Sql() { sqlite3_finalize(statement_); }

void Sql::note(int code) {
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE && wrong_.empty())
        wrong_ = sql_error(handle_, file_).what;
}

Sql &Sql::bind(std::string_view text) {
    if (wrong_.empty())
        note(sqlite3_bind_text64(statement_, next_++, text.data(), text.size(), SQLITE_TRANSIENT,
                                 SQLITE_UTF8));
    return *this;
}

Sql &Sql::bind(std::int64_t number) {
    if (wrong_.empty()) note(sqlite3_bind_int64(statement_, next_++, number));
    return *this;
}

Sql &Sql::bind(double number) {
    if (wrong_.empty()) note(sqlite3_bind_double(statement_, next_++, number));
    return *this;
}

bool Sql::step() {
    if (!wrong_.empty()) return false;
    int code = sqlite3_step(statement_);
    note(code);
    return code == SQLITE_ROW;
}

Status Sql::run() {
    while (step()) {
    }
    return status();
}

Sql &Sql::again() {
    if (wrong_.empty()) sqlite3_reset(statement_);
    next_ = 1;
    return *this;
}

Status Sql::status() const { return wrong_.empty() ? Status{} : Status(Error{wrong_}); }

std::int64_t Sql::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Sql::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string Sql::text(int column) const {
    const auto *text = reinterpret_cast<const char *>(sqlite3_column_text(statement_, column));
    return text ? std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement_, column)))
                : std::string();
}

Status Transaction::begin() {
    NICLAB_TRY(Sql(handle_, file_, "BEGIN IMMEDIATE").run());
    open_ = true;
    return {};
}

Status Transaction::commit() {
    NICLAB_TRY(Sql(handle_, file_, "COMMIT").run());
    open_ = false;
    return {};
}

Transaction::~Transaction() {
    // A full disk may have rolled it back already; then this has nothing to do.
    if (open_) (void)Sql(handle_, file_, "ROLLBACK").run();
}

} // namespace niclab::matrix
