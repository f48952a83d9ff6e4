#include "coordinator/store/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "common/base/file.h"
#include "coordinator/store/log_files.h"
#include "coordinator/store/reader_impl.h"

namespace podium {
namespace {

ExperimentView experiment_row(Statement& row) {
  return {{row.integer(0)}, row.text(1), from_millis(row.integer(2)), row.text(3), row.text(4),
          row.text(5),      {}};
}

// The file, or nothing while its task has written nothing.
Fd open_log(const std::filesystem::path& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno != ENOENT)
    throw std::system_error(errno, std::generic_category(), "cannot open " + path.string());
  return file;
}

LogPart read_part(const Fd& file, const std::filesystem::path& path, std::int64_t offset,
                  std::int64_t limit) {
  LogPart part{std::string(static_cast<std::size_t>(limit), '\0'), offset};
  const ssize_t got = ::pread(file.get(), part.text.data(), part.text.size(), offset);
  if (got < 0) throw std::system_error(errno, std::generic_category(), "cannot read " + path.string());
  part.text.resize(static_cast<std::size_t>(got));
  part.next = offset + got;
  return part;
}

}  // namespace

Reader::Reader(const std::filesystem::path& home) : impl_(std::make_unique<Impl>(home)) {}
Reader::~Reader() = default;

std::optional<ExperimentView> Reader::experiment(ExperimentId id) {
  Statement row(impl_->database,
                "SELECT id, name, created_ms, source, file, spec FROM experiments WHERE id = ?1");
  if (!row.start(id.value).next()) return std::nullopt;
  ExperimentView view = experiment_row(row);
  view.jobs = impl_->jobs_of(id);
  return view;
}

std::vector<ExperimentView> Reader::experiments(int limit, std::optional<ExperimentId> before) {
  Statement rows(impl_->database,
                 "SELECT id, name, created_ms, source, file, '' FROM experiments WHERE id < ?1 ORDER BY id "
                 "DESC LIMIT ?2");
  std::vector<ExperimentView> views;
  for (rows.start(before ? before->value : INT64_MAX, limit); rows.next();)
    views.push_back(experiment_row(rows));
  for (ExperimentView& view : views) view.jobs = impl_->jobs_of(view.id);
  return views;
}

std::optional<ExperimentId> Reader::experiment_by_key(const std::string& key) {
  Statement row(impl_->database, "SELECT id FROM experiments WHERE idempotency_key = ?1");
  if (!row.start(key).next()) return std::nullopt;
  return ExperimentId{row.integer(0)};
}

std::vector<HistoryEntry> Reader::history(JobId job, std::int64_t after, int limit) {
  Statement rows(
      impl_->database,
      "SELECT id, time_ms, type, text, level FROM history WHERE job = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
  std::vector<HistoryEntry> entries;
  for (rows.start(job.value, after, limit); rows.next();)
    entries.push_back(
        {rows.integer(0), from_millis(rows.integer(1)), rows.text(2), rows.text(3), rows.text(4)});
  return entries;
}

std::vector<MetricSummary> Reader::metrics(JobId job) {
  Statement rows(
      impl_->database,
      "SELECT s.key, count(*), min(p.step), max(p.step), s.last_ms, s.last_value, min(p.value), max(p.value)"
      " FROM series s JOIN points p ON p.series = s.id WHERE s.job = ?1 GROUP BY s.id ORDER BY s.key");
  std::vector<MetricSummary> all;
  for (rows.start(job.value); rows.next();)
    all.push_back({rows.text(0), rows.integer(1), rows.integer(2), rows.integer(3),
                   from_millis(rows.integer(4)), rows.real(5), rows.real(6), rows.real(7)});
  return all;
}

Series Reader::series(JobId job, const std::string& key, int points) {
  Statement find(impl_->database,
                 "SELECT s.id, (SELECT count(*) FROM points WHERE series = s.id) FROM series s"
                 " WHERE s.job = ?1 AND s.key = ?2");
  if (!find.start(job.value, key).next()) return {};
  Thinner thinner(static_cast<std::size_t>(find.integer(1)), points);
  Statement rows(impl_->database, "SELECT step, time_ms, value FROM points WHERE series = ?1 ORDER BY step");
  for (rows.start(find.integer(0)); rows.next();)
    thinner.add({rows.integer(0), from_millis(rows.integer(1)), rows.real(2)});
  return std::move(thinner).finish();
}

LogPart Reader::log(TaskId task, StreamKind stream, std::int64_t offset, std::int64_t limit) {
  const auto path = log_path(impl_->home, task, stream);
  const Fd file = open_log(path);
  if (!file) return {"", 0};
  return read_part(file, path, offset, limit);
}

LogPart Reader::log_tail(TaskId task, StreamKind stream, std::int64_t bytes) {
  const auto path = log_path(impl_->home, task, stream);
  const Fd file = open_log(path);
  if (!file) return {"", 0};
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw std::system_error(errno, std::generic_category(), path.string());
  return read_part(file, path, std::max<std::int64_t>(0, info.st_size - bytes), bytes);
}

}  // namespace podium
