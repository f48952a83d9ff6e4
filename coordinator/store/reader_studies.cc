// Reader: experiments of several jobs, and what else ran where they did.
#include <nlohmann/json.hpp>

#include "coordinator/store/reader.h"
#include "coordinator/store/sqlite.h"

namespace podium {

std::optional<StudyView> Reader::study(ExperimentId id) {
  std::optional<ExperimentView> found = experiment(id);
  if (!found || found->listed || found->jobs.size() < 2) return std::nullopt;
  StudyView study{std::move(*found), {}};
  Statement rows(*database_, "SELECT state, count(*) FROM jobs WHERE experiment = ?1 GROUP BY state");
  for (rows.start(id.value); rows.next();) study.states[job_state_from(rows.text(0))] = rows.small(1);
  return study;
}

std::vector<StudyView> Reader::studies(int limit, std::optional<ExperimentId> before) {
  Statement rows(*database_,
                 "SELECT experiment FROM jobs WHERE experiment < ?1 AND experiment NOT IN"
                 " (SELECT id FROM experiments WHERE listed) GROUP BY experiment HAVING count(*) > 1"
                 " ORDER BY experiment DESC LIMIT ?2");
  std::vector<StudyView> views;
  for (rows.start(before ? before->value : INT64_MAX, limit); rows.next();)
    views.push_back(study({rows.integer(0)}).value());
  return views;
}

std::optional<SweepView> Reader::sweep(ExperimentId id) {
  Statement rule(*database_, "SELECT rule FROM sweeps WHERE experiment = ?1");
  if (!rule.start(id.value).next()) return std::nullopt;
  SweepView sweep{asha_from_json(nlohmann::json::parse(rule.text(0))), {}};
  Statement trials(
      *database_,
      "SELECT job, rung, paused FROM trials WHERE job IN (SELECT id FROM jobs WHERE experiment = ?1)");
  for (trials.start(id.value); trials.next();)
    sweep.trials[{trials.integer(0)}] = {trials.small(1), trials.integer(2) != 0, {}};
  Statement reports(*database_,
                    "SELECT job, rung, step, value FROM rung_reports"
                    " WHERE job IN (SELECT id FROM jobs WHERE experiment = ?1)");
  for (reports.start(id.value); reports.next();)
    sweep.trials.at({reports.integer(0)}).reports[reports.small(1)] = {reports.integer(2),
                                                                       reports.optional_real(3)};
  return sweep;
}

std::vector<SharedNode> Reader::shared_nodes(ExperimentId id) {
  // Of the attempts those that ran at the time of the experiment's are looked up first: most did not.
  Statement rows(*database_,
                 "WITH held AS MATERIALIZED ("
                 " SELECT DISTINCT a.job, t.node, a.created_ms AS first,"
                 "  coalesce(a.ended_ms, 9223372036854775807) AS last"
                 " FROM jobs j JOIN attempts a ON a.job = j.id"
                 " JOIN tasks t ON t.job = a.job AND t.attempt = a.number WHERE j.experiment = ?1),"
                 " around AS MATERIALIZED ("
                 " SELECT job, number, created_ms AS first, coalesce(ended_ms, 9223372036854775807) AS last"
                 " FROM attempts WHERE created_ms < (SELECT max(last) FROM held)"
                 "  AND coalesce(ended_ms, 9223372036854775807) > (SELECT min(first) FROM held))"
                 " SELECT DISTINCT held.job, held.node, around.job FROM around"
                 " JOIN tasks t ON t.job = around.job AND t.attempt = around.number"
                 " JOIN held ON held.node = t.node AND held.job != around.job"
                 "  AND held.first < around.last AND around.first < held.last ORDER BY 1, 2, 3");
  std::vector<SharedNode> shared;
  for (rows.start(id.value); rows.next();)
    shared.push_back({{rows.integer(0)}, {rows.text(1)}, {rows.integer(2)}});
  return shared;
}

}  // namespace podium
