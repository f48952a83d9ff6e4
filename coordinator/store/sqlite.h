// Thin, typed wrappers of SQLite: connections, prepared statements and transactions that clean up after
// themselves. Every failure throws SqliteError naming the file, the statement and, where the file is damaged,
// the remedy.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace podium {

class SqliteError : public std::runtime_error {
 public:
  SqliteError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }
  bool is_late() const { return (code_ & 0xff) == SQLITE_INTERRUPT; }  // beyond a Deadline
  bool is_damage() const { return (code_ & 0xff) == SQLITE_CORRUPT || (code_ & 0xff) == SQLITE_NOTADB; }

 private:
  int code_;
};

enum class Access { write, read };

class Database {
 public:
  // `write` creates the file, in WAL mode with every commit on disk before it returns.
  Database(const std::filesystem::path& path, Access access, int cache_kib);

  void run(const std::string& sql);  // any number of statements, results ignored
  std::int64_t last_insert_id() const { return sqlite3_last_insert_rowid(handle_.get()); }
  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
  sqlite3* handle() const { return handle_.get(); }
  [[noreturn]] void fail(const std::string& doing) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::string name_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// Bytes that are not text.
struct Blob {
  std::string_view bytes;
};

// Prepared once, used many times: `for (statement.start(a, b); statement.next();) statement.text(0)`, or
// `run(a, b)`.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  // Starts the statement with these parameters, ?1 first. Texts must outlive its run.
  template <class... Values>
  Statement& start(const Values&... values) {
    sqlite3_reset(handle_.get());
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }
  template <class... Values>
  void run(const Values&... values) {
    start(values...);
    while (next()) {
    }
  }
  bool next();  // the next row, or false and ready for another start

  void bind(int index, std::int64_t value);
  void bind(int index, int value) { bind(index, std::int64_t{value}); }
  void bind(int index, bool value) { bind(index, std::int64_t{value}); }
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, Blob value);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  void bind(int index, const char* value) { bind(index, std::string_view(value)); }
  void bind(int index, std::nullopt_t);
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    value ? bind(index, *value) : bind(index, std::nullopt);
  }

  // Columns of the current row, from 0.
  bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  int small(int column) const { return sqlite3_column_int(handle_.get(), column); }
  double real(int column) const;  // NULL reads as NaN
  std::string text(int column) const;
  std::string_view blob(int column) const;  // until the next row
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<double> optional_real(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// Rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() { database_.run("COMMIT"); }

 private:
  Database& database_;
};

// While it lives, statements of the connection that run after `end` fail with SQLITE_INTERRUPT.
class Deadline {
 public:
  Deadline(Database& database, std::chrono::steady_clock::time_point end);
  ~Deadline() { sqlite3_progress_handler(database_.handle(), 0, nullptr, nullptr); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  Database& database_;
  const std::chrono::steady_clock::time_point end_;
};

// All statements within it see one state of the database.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database& database) : database_(database) { database_.run("BEGIN"); }
  ~ReadTransaction() { sqlite3_exec(database_.handle(), "COMMIT", nullptr, nullptr, nullptr); }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  Database& database_;
};

}  // namespace podium
