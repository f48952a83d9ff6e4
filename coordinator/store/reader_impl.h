// What the reader's source files share.
#pragma once

#include "coordinator/store/reader.h"
#include "coordinator/store/sqlite.h"

namespace podium {

// All statements within see the database as of one moment.
class Moment {
 public:
  explicit Moment(Database& database) : database_(database) { database_.run("BEGIN"); }
  ~Moment() { sqlite3_exec(database_.handle(), "COMMIT", nullptr, nullptr, nullptr); }
  Moment(const Moment&) = delete;
  Moment& operator=(const Moment&) = delete;

 private:
  Database& database_;
};

class Reader::Impl {
 public:
  explicit Impl(const std::filesystem::path& folder)
      : home(folder), database(folder / "podium.db", Access::read, kCacheKib) {}

  static const char* const kJobColumns;  // "SELECT … FROM jobs ", for job_row

  std::vector<JobId> jobs_of(ExperimentId experiment);
  JobView job_row(Statement& row);
  std::int64_t end_of(TaskId task, StreamKind stream);

  std::filesystem::path home;
  Database database;

 private:
  static constexpr int kCacheKib = 1024;

  void add_latest(JobView& job);
  void add_attempts(JobView& job);
};

}  // namespace podium
