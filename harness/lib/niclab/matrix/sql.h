// SPDX-License-Identifier: GPL-2.0-or-later
// Statements and transactions of SQLite whose errors are sentences.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "niclab/result.h"

namespace niclab::matrix {

/// What went wrong with that file, and what helps.
Error sql_error(sqlite3 *handle, const std::filesystem::path &file);

/// A failure is kept until it is asked for, so that binding and stepping can be written in a row.
class Sql {
  public:
    Sql(sqlite3 *handle, const std::filesystem::path &file, const char *text);
    ~Sql();
    Sql(const Sql &) = delete;
    Sql &operator=(const Sql &) = delete;

    Sql &bind(std::string_view text);
    Sql &bind(std::int64_t number);
    Sql &bind(double number);

    /// True while there is a row.
    bool step();
    /// Runs it to its end.
    Status run();
    /// Runs it for another set of values.
    Sql &again();
    Status status() const;

    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;

  private:
    void note(int code);

    sqlite3 *handle_;
    const std::filesystem::path &file_;
    sqlite3_stmt *statement_ = nullptr;
    int next_ = 1;
    std::string wrong_;
};

/// Undone unless committed.
class Transaction {
  public:
    Transaction(sqlite3 *handle, const std::filesystem::path &file) : handle_(handle), file_(file) {}
    ~Transaction();
    Transaction(const Transaction &) = delete;
    Transaction &operator=(const Transaction &) = delete;
    Status begin();
    Status commit();

  private:
    sqlite3 *handle_;
    const std::filesystem::path &file_;
    bool open_ = false;
};

} // namespace niclab::matrix
