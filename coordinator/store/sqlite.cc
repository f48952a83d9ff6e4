#include "coordinator/store/sqlite.h"

#include <cmath>
#include <limits>

namespace podium {

Database::Database(const std::filesystem::path& path, Access access, int cache_kib) : name_(path.string()) {
  const int flags =
      access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name_.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail("open it");
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 5000);
  run("PRAGMA cache_size = -" + std::to_string(cache_kib));
  if (access == Access::write)
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        "PRAGMA journal_size_limit = 67108864");
}

void Database::run(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail("run " + sql);
}

void Database::fail(const std::string& doing) const {
  const int code = handle_ ? sqlite3_extended_errcode(handle_.get()) : SQLITE_NOMEM;
  const char* why = handle_ ? sqlite3_errmsg(handle_.get()) : "out of memory";
  const SqliteError error(code, "database " + name_ + ": cannot " + doing + ": " + why);
  if (!error.is_damage()) throw error;
  throw SqliteError(code,
                    error.what() + std::string("; the file is damaged: stop the coordinator and restore "
                                               "a backup of its home"));
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) database.fail("prepare " + std::string(sql));
}

bool Statement::next() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  const std::string failure = code == SQLITE_DONE ? "" : sqlite3_sql(handle_.get());
  sqlite3_reset(handle_.get());
  if (code != SQLITE_DONE) database_.fail("run " + failure);
  return false;
}

void Statement::bind(int index, std::int64_t value) { sqlite3_bind_int64(handle_.get(), index, value); }
void Statement::bind(int index, double value) { sqlite3_bind_double(handle_.get(), index, value); }
void Statement::bind(int index, std::nullopt_t) { sqlite3_bind_null(handle_.get(), index); }
void Statement::bind(int index, std::string_view value) {
  sqlite3_bind_text(handle_.get(), index, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
}

// No pointer would be NULL, which no bytes are not.
void Statement::bind(int index, Blob value) {
  sqlite3_bind_blob(handle_.get(), index, value.bytes.empty() ? "" : value.bytes.data(),
                    static_cast<int>(value.bytes.size()), SQLITE_STATIC);
}

double Statement::real(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(handle_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)))
               : "";
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  return {bytes, bytes ? static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)) : 0};
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}

std::optional<double> Statement::optional_real(int column) const {
  return is_null(column) ? std::nullopt : std::optional(real(column));
}

Deadline::Deadline(Database& database, std::chrono::steady_clock::time_point end)
    : database_(database), end_(end) {
  constexpr int kEvery = 1000;  // instructions of SQLite's machine: less than a millisecond
  const auto is_over = [](void* self) {
    return std::chrono::steady_clock::now() >= static_cast<const Deadline*>(self)->end_ ? 1 : 0;
  };
  sqlite3_progress_handler(database.handle(), kEvery, is_over, this);
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back by itself. A rollback that fails leaves nothing more to do: the
  // connection is about to be reported broken by the error that brought us here.
  if (database_.in_transaction()) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace podium
