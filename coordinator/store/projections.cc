#include "coordinator/store/projections.h"

#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "common/base/check.h"
#include "common/model/links.h"
#include "common/model/serve_spec.h"
#include "coordinator/core/events/names.h"
#include "coordinator/store/store.h"

namespace podium {

struct Projections::Visitor {
  Projections& tables;
  std::int64_t at;

  void operator()(const ExperimentCreated& e) const {
    tables.insert_experiment_.run(e.experiment.value, e.name, at);
    tables.insert_group_.run(e.name, at);
  }
  void operator()(const JobQueued& e) const {
    const JobRequest& r = e.request;
    tables.insert_job_.run(e.job.value, e.experiment.value, r.name, r.kind, r.devices, r.per_node,
                           std::int64_t{r.walltime.count()}, r.priority, r.max_restarts, r.command, at,
                           r.account, nlohmann::json(r.sizes).dump());
  }
  void operator()(const RunTracked& e) const {
    tables.no_study_.run(e.experiment.value);
    tables.insert_run_.run(e.job.value, e.experiment.value, at);
  }
  void operator()(const AttemptCreated& e) const {
    const std::int64_t job = e.attempt.job.value;
    tables.insert_attempt_.run(job, e.attempt.number, at);
    tables.job_attempt_.run(job, e.attempt.number, e.allocation.devices());
    for (std::size_t rank = 0; rank < e.allocation.ranks.size(); ++rank) {
      const Placement& place = e.allocation.ranks[rank];
      tables.insert_task_.run(job, e.attempt.number, static_cast<int>(rank), place.node.value, place.device,
                              nlohmann::json(place.more_devices).dump());
    }
  }
  void operator()(const TaskStarted& e) const {
    tables.task_started_.run(e.task.attempt.job.value, e.task.attempt.number, e.task.rank, e.pid);
  }
  void operator()(const TaskExited& e) const { end_task(e.task, TaskPhase::exited, e.exit); }
  void operator()(const TaskLost& e) const {
    end_task(e.task, TaskPhase::lost, {-1, 0, e.reason, ExitCause::no_record});
  }
  void operator()(const AttemptEnded& e) const {
    tables.attempt_ended_.run(e.attempt.job.value, e.attempt.number, at, to_string(e.end), e.reason,
                              enum_name(kRestartCauses, e.restart));
  }
  void operator()(const JobStateChanged& e) const {
    // What a user cancelled needs no explanation; the reason column is for what went wrong.
    const std::string reason = e.to == JobState::cancelled && e.reason == "cancelled" ? "" : e.reason;
    tables.job_state_.run(e.job.value, to_string(e.to), reason);
    if (e.to == JobState::running) {
      tables.job_started_.run(e.job.value, at);
      tables.attempt_started_.run(e.job.value, at);
    }
    if (is_terminal(e.to)) {
      tables.job_ended_.run(e.job.value, at);
      tables.board_.put(e.job);
    }
  }
  void operator()(const RetryPlanned& e) const { tables.job_failures_.run(e.job.value, e.retries.failures); }
  void operator()(const JobRecalled& e) const {
    tables.job_failures_.run(e.job.value, 0);
    tables.attempt_recalled_.run(e.job.value, enum_name(kRestartCauses, RestartCause::requeue));
    tables.trial_recalled_.run(e.job.value);
  }
  void operator()(const JobExtended& e) const {
    tables.job_walltime_.run(e.job.value, std::int64_t{e.walltime.count()});
  }
  void operator()(const SweepBegun& e) const {
    tables.insert_sweep_.run(e.experiment.value, to_json(e.rule).dump());
    for (int i = 0; i < e.trials; ++i) tables.insert_trial_.run(e.first.value + i);
  }
  void operator()(const RungReached& e) const {
    tables.rung_reached_.run(e.job.value, e.rung, e.report.step, e.report.value);
  }
  void operator()(const TrialPaused& e) const { tables.trial_paused_.run(e.job.value); }
  void operator()(const TrialPromoted& e) const {
    tables.trial_promoted_.run(e.job.value, e.rung + 1);
    tables.promoted_attempt_.run(e.job.value, enum_name(kRestartCauses, RestartCause::promotion));
  }
  void operator()(const ReplicaPromoted& e) const {
    tables.promoted_attempt_.run(e.job.value, enum_name(kRestartCauses, RestartCause::promotion));
  }
  void operator()(const JobHeld& e) const { tables.job_attempts_told_.run(e.job.value, e.attempts); }
  void operator()(const JobPrioritised& e) const { tables.job_priority_.run(e.job.value, e.priority); }
  void operator()(const NodeJoined& e) const { note_hardware(e.node); }
  void operator()(const NodeChanged& e) const { note_hardware(e.node); }
  template <class Other>
  void operator()(const Other&) const {}  // what nodes are now, and presence, are read from memory

  void note_hardware(const NodeDescription& node) const {
    std::set<std::tuple<std::string, std::string, bool>> devices;
    for (const Device& device : node.devices) devices.emplace(device.kind, device.model, device.artificial);
    tables.node_hardware_.run(node.id.value, at, node.agent_version, nlohmann::json(devices).dump());
  }

  void end_task(TaskId task, TaskPhase phase, const TaskExit& exit) const {
    tables.task_ended_.run(task.attempt.job.value, task.attempt.number, task.rank, to_string(phase),
                           exit.code, exit.signal, exit.message, to_string(exit.cause));
  }
};

Projections::Projections(Database& db)
    : insert_experiment_(db, "INSERT INTO experiments (id, name, created_ms) VALUES (?1, ?2, ?3)"),
      insert_job_(
          db,
          "INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority,"
          " max_restarts, command, submitted_ms, account, sizes, run_group)"
          " SELECT ?1, ?2, ?3, 'queued', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, g.id"
          " FROM experiments e JOIN run_groups g ON g.name = e.name WHERE e.id = ?2"),
      insert_group_(db,
                    "INSERT OR IGNORE INTO run_groups (name, created_ms, updated_ms) VALUES (?1, ?2, ?2)"),
      insert_run_(
          db,
          "INSERT INTO jobs (id, experiment, name, state, kind, devices, per_node, walltime_ms, priority,"
          " max_restarts, command, submitted_ms, started_ms, tracked)"
          " VALUES (?1, ?2, '', 'running', '', 0, 0, 0, 0, 0, 0, ?3, ?3, 1)"),
      no_study_(db, "UPDATE experiments SET listed = 1 WHERE id = ?1 AND NOT listed"),
      insert_attempt_(db, "INSERT INTO attempts (job, number, created_ms) VALUES (?1, ?2, ?3)"),
      insert_task_(db,
                   "INSERT INTO tasks (job, attempt, rank, node, device, more_devices, phase)"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'ordered')"),
      job_attempt_(db, "UPDATE jobs SET attempt = ?2, held_devices = ?3 WHERE id = ?1"),
      job_attempts_told_(db, "UPDATE jobs SET attempts_told = max(attempts_told, ?2) WHERE id = ?1"),
      job_state_(db,
                 "UPDATE jobs SET state = ?2, reason = ?3,"
                 " ended_ms = CASE ?2 WHEN 'queued' THEN NULL ELSE ended_ms END WHERE id = ?1"),
      job_walltime_(db, "UPDATE jobs SET walltime_ms = ?2 WHERE id = ?1"),
      job_priority_(db, "UPDATE jobs SET priority = ?2 WHERE id = ?1"),
      job_failures_(db, "UPDATE jobs SET failures = ?2 WHERE id = ?1"),
      job_started_(db, "UPDATE jobs SET started_ms = coalesce(started_ms, ?2) WHERE id = ?1"),
      job_ended_(db, "UPDATE jobs SET ended_ms = ?2 WHERE id = ?1"),
      attempt_started_(db,
                       "UPDATE attempts SET started_ms = ?2 WHERE job = ?1 AND"
                       " number = (SELECT attempt FROM jobs WHERE id = ?1)"),
      attempt_ended_(db,
                     "UPDATE attempts SET ended_ms = ?3, end = ?4, reason = ?5, restart = ?6"
                     " WHERE job = ?1 AND number = ?2"),
      attempt_recalled_(db,
                        "UPDATE attempts SET restart = ?2 WHERE job = ?1 AND restart = '' AND"
                        " number = (SELECT attempt FROM jobs WHERE id = ?1)"),
      task_started_(
          db, "UPDATE tasks SET phase = 'running', pid = ?4 WHERE job = ?1 AND attempt = ?2 AND rank = ?3"),
      task_ended_(
          db,
          "UPDATE tasks SET phase = ?4, exit_code = ?5, exit_signal = ?6, exit_message = ?7, exit_cause = ?8"
          " WHERE job = ?1 AND attempt = ?2 AND rank = ?3"),
      insert_sweep_(db, "INSERT INTO sweeps (experiment, rule) VALUES (?1, ?2)"),
      insert_trial_(db, "INSERT INTO trials (job) VALUES (?1)"),
      rung_reached_(db, "INSERT INTO rung_reports (job, rung, step, value) VALUES (?1, ?2, ?3, ?4)"),
      trial_paused_(db, "UPDATE trials SET paused = 1 WHERE job = ?1"),
      trial_recalled_(db, "UPDATE trials SET paused = 0 WHERE job = ?1"),
      trial_promoted_(db, "UPDATE trials SET rung = ?2, paused = 0 WHERE job = ?1"),
      promoted_attempt_(
          db,
          "UPDATE attempts SET restart = ?2 WHERE job = ?1 AND restart = '' AND end = 'paused' AND"
          " number = (SELECT attempt FROM jobs WHERE id = ?1)"),
      experiment_text_(
          db,
          "UPDATE experiments SET spec = ?2, file = ?3, source = ?4, idempotency_key = nullif(?5, ''),"
          " listed = ?6 WHERE id = ?1"),
      first_job_(db, "SELECT min(id) FROM jobs WHERE experiment = ?1"),
      job_text_(db,
                "UPDATE jobs SET spec = ?3, labels = ?4, target_metric = ?5, target_at_least = ?6, "
                "target_at_most = ?7"
                " WHERE id = (SELECT id FROM jobs WHERE experiment = ?1 ORDER BY id LIMIT 1 OFFSET ?2)"),
      job_params_(db,
                  "INSERT OR IGNORE INTO params SELECT job, key, value FROM submitted_params WHERE job = ?1"),
      job_tags_(db, "INSERT OR IGNORE INTO tags SELECT job, key, value FROM submitted_tags WHERE job = ?1"),
      secret_(db, "UPDATE attempts SET secret = ?3 WHERE job = ?1 AND number = ?2"),
      node_hardware_(db,
                     "INSERT OR REPLACE INTO node_hardware SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS"
                     " (SELECT 1 FROM (SELECT agent_version, devices FROM node_hardware WHERE node = ?1"
                     " ORDER BY since_ms DESC LIMIT 1) WHERE agent_version = ?3 AND devices = ?4)"),
      board_(db) {}

void Projections::take(const Event& event) { std::visit(Visitor{*this, to_millis(event.at)}, event.body); }

namespace {

// With the numbers of the jobs that it names.
std::string linked(const std::string& written, const JobLinks& links, JobId first) {
  JobSpec spec = job_spec_from_json(nlohmann::json::parse(written));
  link(spec, links, first);
  return to_json(spec).dump();
}

// Its jobs are equal, but they are no repetitions of one training.
bool is_service(const ExperimentText& text) {
  return !text.job_specs.empty() &&
         nlohmann::json::parse(text.job_specs.front()).value("task", "") == kServeTask;
}

}  // namespace

void Projections::take(const ExperimentText& text) {
  experiment_text_.run(text.experiment.value, text.spec, text.file, text.source, text.idempotency_key,
                       !text.links.empty() || is_service(text));
  for (std::size_t i = 0; i < text.job_specs.size(); ++i) {
    const bool links = i < text.links.size() && text.links[i].any();
    const std::string written =
        links ? linked(text.job_specs[i], text.links[i], first_job(text.experiment)) : text.job_specs[i];
    const auto spec = nlohmann::json::parse(written);
    const std::string labels = spec.value("labels", nlohmann::json::object()).dump();
    std::optional<std::string> metric;
    std::optional<double> at_least, at_most;
    if (spec.contains("target")) {
      const auto& target = spec.at("target");
      metric = target.at("metric").get<std::string>();
      if (target.contains("at_least")) at_least = target.at("at_least").get<double>();
      if (target.contains("at_most")) at_most = target.at("at_most").get<double>();
    }
    job_text_.run(text.experiment.value, static_cast<std::int64_t>(i), written, labels, metric, at_least,
                  at_most);
  }
  const JobId first = first_job(text.experiment);
  for (std::size_t i = 0; i < text.job_specs.size(); ++i) {
    job_params_.run(first.value + static_cast<std::int64_t>(i));
    job_tags_.run(first.value + static_cast<std::int64_t>(i));
  }
}

JobId Projections::first_job(ExperimentId experiment) {
  JobId first;
  for (first_job_.start(experiment.value); first_job_.next();) first = {first_job_.integer(0)};
  return first;
}

void Projections::take(const AttemptSecret& secret) {
  secret_.run(secret.attempt.job.value, secret.attempt.number, secret.secret);
}

}  // namespace podium
