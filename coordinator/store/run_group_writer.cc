#include "coordinator/store/run_group_writer.h"

#include <spdlog/fmt/fmt.h>

#include "coordinator/store/one_row.h"

namespace podium {
namespace {

constexpr std::int64_t kMostGroupTags = 1'000;

std::string name_of(RunGroupId group) { return "experiment " + std::to_string(group.value); }

Error missing(RunGroupId group) { return {ErrorCode::not_found, "there is no " + name_of(group), ""}; }

}  // namespace

RunGroupWriter::RunGroupWriter(Database& db)
    : database_(db),
      by_name_(db, "SELECT id, deleted FROM run_groups WHERE name = ?1"),
      find_(db, "SELECT deleted FROM run_groups WHERE id = ?1"),
      count_(db, "SELECT count(*) FROM run_groups"),
      insert_(db, "INSERT INTO run_groups (name, artifacts, created_ms, updated_ms) VALUES (?1, ?2, ?3, ?3)"),
      rename_(db, "UPDATE run_groups SET name = ?2, updated_ms = ?3 WHERE id = ?1"),
      scheduled_(db,
                 "SELECT 1 FROM jobs JOIN run_groups g ON g.id = run_group"
                 " WHERE run_group = ?1 AND NOT tracked AND g.name <> ?2 LIMIT 1"),
      rename_experiments_(db,
                          "UPDATE experiments SET name = ?2 WHERE id IN"
                          " (SELECT experiment FROM jobs WHERE run_group = ?1 AND tracked)"),
      set_deleted_(db, "UPDATE run_groups SET deleted = ?2, updated_ms = ?3 WHERE id = ?1"),
      set_runs_deleted_(db, "UPDATE jobs SET deleted = ?2 WHERE run_group = ?1 AND tracked"),
      touch_(db, "UPDATE run_groups SET updated_ms = ?2 WHERE id = ?1"),
      count_tags_(db, "SELECT count(*) FROM run_group_tags WHERE run_group = ?1"),
      has_tag_(db, "SELECT count(*) FROM run_group_tags WHERE run_group = ?1 AND key = ?2"),
      put_tag_(db, "INSERT OR REPLACE INTO run_group_tags (run_group, key, value) VALUES (?1, ?2, ?3)"),
      remove_tag_(db, "DELETE FROM run_group_tags WHERE run_group = ?1 AND key = ?2") {}

std::optional<Error> RunGroupWriter::name_is_taken(const std::string& name, std::optional<RunGroupId> by) {
  if (!by_name_.start(name).next()) return std::nullopt;
  const RunGroupId known{by_name_.integer(0)};
  const bool deleted = by_name_.integer(1) != 0;
  by_name_.start();
  if (known == by) return std::nullopt;
  return Error{ErrorCode::conflict,
               fmt::format("Experiment(name={}) already exists{}", name,
                           deleted ? " in deleted state; restore it (experiment " +
                                         std::to_string(known.value) + "), or choose another name"
                                   : ""),
               ""};
}

std::optional<Error> RunGroupWriter::not_active(RunGroupId group) {
  if (!find_.start(group.value).next()) return missing(group);
  const bool deleted = find_.integer(0) != 0;
  find_.start();
  if (!deleted) return std::nullopt;
  return Error{
      ErrorCode::invalid,
      name_of(group) + " must be in the 'active' state and is in the 'deleted' state; restore it first", ""};
}

Result<std::int64_t> RunGroupWriter::take(std::int64_t now_ms, const MakeRunGroup& make) {
  if (auto error = name_is_taken(make.name, std::nullopt)) return std::move(*error);
  if (number_in(count_.start()) >= kMostRunGroups)
    return Error{ErrorCode::invalid,
                 fmt::format("there are {} experiments already, which is the most", kMostRunGroups), ""};
  insert_.run(make.name, make.artifacts, now_ms);
  const std::int64_t made = database_.last_insert_id();
  for (const auto& [key, value] : make.tags) put_tag_.run(made, key, value);
  return made;
}

Result<std::int64_t> RunGroupWriter::take(std::int64_t now_ms, const RenameRunGroup& rename) {
  if (auto error = not_active(rename.group)) return std::move(*error);
  if (rename.name.empty()) return 0;  // nothing is asked
  if (auto error = name_is_taken(rename.name, rename.group)) return std::move(*error);
  if (has_row(scheduled_.start(rename.group.value, rename.name)))
    return Error{ErrorCode::invalid,
                 name_of(rename.group) +
                     " has jobs that Podium schedules, whose specs name it, and keeps its name; "
                     "log to an experiment of the other name",
                 ""};
  rename_.run(rename.group.value, rename.name, now_ms);
  rename_experiments_.run(rename.group.value, rename.name);
  return 0;
}

Result<std::int64_t> RunGroupWriter::take(std::int64_t now_ms, const DeleteRunGroup& remove) {
  const std::optional<Error> deleted = not_active(remove.group);
  if (deleted && (remove.deleted || deleted->code == ErrorCode::not_found)) return *deleted;
  if (!deleted && !remove.deleted)
    return Error{ErrorCode::not_found, "there is no " + name_of(remove.group) + " in the 'deleted' state",
                 ""};
  if (remove.deleted && has_row(scheduled_.start(remove.group.value, "")))
    return Error{
        ErrorCode::invalid,
        name_of(remove.group) + " has jobs that Podium schedules, and stays in its lists; delete its runs",
        ""};
  set_deleted_.run(remove.group.value, remove.deleted, now_ms);
  set_runs_deleted_.run(remove.group.value, remove.deleted);
  return 0;
}

Result<std::int64_t> RunGroupWriter::take(std::int64_t now_ms, const SetRunGroupTag& tag) {
  if (auto error = not_active(tag.group)) return std::move(*error);
  const bool known = number_in(has_tag_.start(tag.group.value, tag.key)) > 0;
  if (!tag.value && !known)
    return Error{ErrorCode::not_found, name_of(tag.group) + " has no tag \"" + tag.key + "\"", ""};
  if (!known && number_in(count_tags_.start(tag.group.value)) >= kMostGroupTags)
    return Error{ErrorCode::invalid, fmt::format("an experiment may have {} tags", kMostGroupTags), ""};
  if (tag.value)
    put_tag_.run(tag.group.value, tag.key, *tag.value);
  else
    remove_tag_.run(tag.group.value, tag.key);
  touch_.run(tag.group.value, now_ms);
  return 0;
}

}  // namespace podium
