#include "coordinator/store/run_reader.h"

#include <algorithm>
#include <tuple>

#include "common/model/codec.h"
#include "coordinator/store/chunk_reader.h"
#include "coordinator/store/value_bits.h"

namespace podium {
namespace {

auto place_in_history(const HistoryPoint& point) {
  return std::tuple(point.step, point.time_ms, bits_of_value(point.value));
}

bool is_before(const HistoryPoint& a, const HistoryPoint& b) {
  return place_in_history(a) < place_in_history(b);
}

// The points of the series itself.
std::vector<HistoryPoint> series_points(Database& database, std::int64_t series, std::size_t most,
                                        const std::optional<HistoryPoint>& after) {
  ChunkReader reader(database, series);
  std::vector<HistoryPoint> points;
  points.reserve(most);
  for (const StoredPoint& point : reader.some(after ? after->step : INT64_MIN, most)) {
    const HistoryPoint one{point.step, point.time_ms, point.value};
    if (!after || is_before(*after, one)) points.push_back(one);
  }
  return points;
}

}  // namespace

RunReader::RunReader(Database& db)
    : database_(db),
      info_(db,
            "SELECT j.id, run_group, j.name, CASE WHEN tracked THEN user ELSE account END, state,"
            " coalesce(started_ms, submitted_ms), ended_ms, j.deleted, tracked, artifacts"
            " FROM jobs j JOIN run_groups g ON g.id = run_group WHERE j.id = ?1"),
      metrics_(db,
               "SELECT key, last_value, last_ms, last_step FROM series WHERE job = ?1 AND points > 0"
               " ORDER BY key"),
      params_(db, "SELECT key, value FROM params WHERE job = ?1 ORDER BY key"),
      tags_(db, "SELECT key, value FROM tags WHERE job = ?1 ORDER BY key"),
      inputs_(db, "SELECT kind, id, body FROM run_inputs WHERE job = ?1 ORDER BY kind, id"),
      find_series_(db, "SELECT id FROM series WHERE job = ?1 AND key = ?2"),
      repeated_(db,
                "SELECT step, time_ms, bits FROM repeated_points WHERE series = ?1"
                " AND (step, time_ms, bits) > (?2, ?3, ?4) ORDER BY step, time_ms, bits LIMIT ?5"),
      group_(db, "SELECT id, name, artifacts, created_ms, updated_ms, deleted FROM run_groups WHERE id = ?1"),
      group_by_name_(
          db, "SELECT id, name, artifacts, created_ms, updated_ms, deleted FROM run_groups WHERE name = ?1"),
      group_tags_(db, "SELECT key, value FROM run_group_tags WHERE run_group = ?1 ORDER BY key"),
      tracked_(db, "SELECT experiment FROM jobs WHERE run_group = ?1 AND tracked ORDER BY id DESC LIMIT 1") {}

RunInfo RunReader::info_row(Statement& row) {
  return {{row.integer(0)},
          {row.integer(1)},
          row.text(2),
          row.text(3),
          job_state_from(row.text(4)),
          row.integer(5),
          row.optional_integer(6),
          row.integer(7) != 0,
          row.integer(8) != 0,
          row.text(9)};
}

std::optional<RunInfo> RunReader::info(JobId job) {
  std::optional<RunInfo> found;
  for (info_.start(job.value); info_.next();) found = info_row(info_);
  return found;
}

RunData RunReader::data(JobId job) {
  RunData data;
  for (metrics_.start(job.value); metrics_.next();)
    data.metrics.push_back({metrics_.text(0), metrics_.real(1), metrics_.integer(2), metrics_.integer(3)});
  for (params_.start(job.value); params_.next();) data.params.push_back({params_.text(0), params_.text(1)});
  for (tags_.start(job.value); tags_.next();) data.tags.push_back({tags_.text(0), tags_.text(1)});
  for (inputs_.start(job.value); inputs_.next();)
    data.inputs.push_back({inputs_.text(0), inputs_.text(1), inputs_.text(2)});
  return data;
}

std::optional<Run> RunReader::run(JobId job) {
  const ReadTransaction moment(database_);
  std::optional<RunInfo> found = info(job);
  if (!found) return std::nullopt;
  return Run{std::move(*found), data(job)};
}

RunTexts RunReader::submitted(JobId job) {
  RunTexts texts;
  Statement params(database_, "SELECT key, value FROM submitted_params WHERE job = ?1");
  for (params.start(job.value); params.next();) texts.params.push_back({params.text(0), params.text(1)});
  Statement tags(database_, "SELECT key, value FROM submitted_tags WHERE job = ?1");
  for (tags.start(job.value); tags.next();) texts.tags.push_back({tags.text(0), tags.text(1)});
  return texts;
}

FoundPage<HistoryPoint> RunReader::history(JobId job, const std::string& key, std::size_t most,
                                           const std::optional<HistoryPoint>& after) {
  const ReadTransaction moment(database_);
  std::optional<std::int64_t> series;
  for (find_series_.start(job.value, key); find_series_.next();) series = find_series_.integer(0);
  if (!series) return {};
  // Two more than asked for: one that comes no later than `after`, and one that shows that there are more.
  const std::vector<HistoryPoint> points = series_points(database_, *series, most + 2, after);
  constexpr std::int64_t kBeforeAll = INT64_MIN;
  if (after)
    repeated_.start(*series, after->step, after->time_ms, bits_of_value(after->value),
                    static_cast<std::int64_t>(most) + 1);
  else
    repeated_.start(*series, kBeforeAll, kBeforeAll, kBeforeAll, static_cast<std::int64_t>(most) + 1);
  std::vector<HistoryPoint> repeated;
  while (repeated_.next())
    repeated.push_back({repeated_.integer(0), repeated_.integer(1), value_of_bits(repeated_.integer(2))});

  FoundPage<HistoryPoint> page;
  if (repeated.empty()) {
    page.rows = points;
  } else {
    page.rows.resize(points.size() + repeated.size());
    std::merge(points.begin(), points.end(), repeated.begin(), repeated.end(), page.rows.begin(),
               [](const HistoryPoint& a, const HistoryPoint& b) { return is_before(a, b); });
  }
  page.more = page.rows.size() > most;
  page.rows.resize(std::min(page.rows.size(), most));
  return page;
}

RunGroup RunReader::group_row(Statement& row) {
  RunGroup group{{row.integer(0)}, row.text(1),         row.text(2), row.integer(3),
                 row.integer(4),   row.integer(5) != 0, {}};
  for (group_tags_.start(group.id.value); group_tags_.next();)
    group.tags.push_back({group_tags_.text(0), group_tags_.text(1)});
  return group;
}

std::optional<RunGroup> RunReader::group(RunGroupId id) {
  std::optional<RunGroup> found;
  for (group_.start(id.value); group_.next();) found = group_row(group_);
  return found;
}

std::optional<RunGroup> RunReader::group(const std::string& name) {
  std::optional<RunGroup> found;
  for (group_by_name_.start(name); group_by_name_.next();) found = group_row(group_by_name_);
  return found;
}

std::optional<ExperimentId> RunReader::tracked_experiment(RunGroupId group) {
  std::optional<ExperimentId> found;
  for (tracked_.start(group.value); tracked_.next();) found = ExperimentId{tracked_.integer(0)};
  return found;
}

}  // namespace podium
