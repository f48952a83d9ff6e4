// Reader: runs that have reached their target.
#include <charconv>
#include <nlohmann/json.hpp>

#include "coordinator/store/reader.h"
#include "coordinator/store/sqlite.h"

namespace podium {
namespace {

template <class T>
std::vector<T> list_of(const std::string& text) {
  return nlohmann::json::parse(text).get<std::vector<T>>();
}

const std::string kRunColumns =
    "SELECT job, board_runs.started_ms, reached_ms, board_runs.devices, models, artificial, shared,"
    " (SELECT json_group_array(step_ms) FROM clock_steps"
    "  WHERE to_ms > board_runs.started_ms AND from_ms < reached_ms)";

BoardRun run_row(const Statement& row) {
  BoardRun run{
      {row.integer(0)}, list_of<int>(row.text(3)),   list_of<std::string>(row.text(4)), row.small(5) != 0,
      std::nullopt,     from_millis(row.integer(1)), from_millis(row.integer(2))};
  for (const std::int64_t step : list_of<std::int64_t>(row.text(7))) run.clock_steps.emplace_back(step);
  if (row.is_null(6)) return run;
  run.shared_with.emplace();
  for (const std::int64_t job : list_of<std::int64_t>(row.text(6))) run.shared_with->push_back({job});
  return run;
}

std::optional<JobId> job_named(const std::string& text) {
  JobId job;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), job.value);
  if (error != std::errc{} || end != text.data() + text.size() || job.value < 1) return std::nullopt;
  return job;
}

}  // namespace

std::vector<BoardRow> Reader::board() {
  Statement rows(*database_, kRunColumns + ", benchmark FROM board_runs ORDER BY benchmark, reached_ms, job");
  std::vector<BoardRow> all;
  for (rows.start(); rows.next();) all.push_back({rows.text(8), run_row(rows)});
  return all;
}

std::vector<BoardRunView> Reader::board_runs(const std::string& identity) {
  Statement rows(
      *database_,
      kRunColumns +
          ", jobs.name, experiment, file, json_remove(jobs.spec, '$.after', '$.labels.reproduces'), source, "
          "json_extract(jobs.spec, "
          "'$.training.seed'),"
          " attempts, nodes, versions, json_extract(jobs.labels, '$.reproduces')"
          " FROM board_runs JOIN jobs ON jobs.id = job JOIN experiments ON experiments.id = experiment"
          " WHERE benchmark = ?1 ORDER BY reached_ms DESC, job DESC");
  std::vector<BoardRunView> views;
  for (rows.start(identity); rows.next();)
    views.push_back({run_row(rows),
                     rows.text(8),
                     {rows.integer(9)},
                     rows.text(10),
                     rows.text(11),
                     rows.text(12),
                     rows.optional_integer(13),
                     rows.small(14),
                     list_of<std::string>(rows.text(15)),
                     list_of<std::string>(rows.text(16)),
                     job_named(rows.text(17))});
  return views;
}

}  // namespace podium
