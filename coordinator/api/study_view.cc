#include "coordinator/api/study_view.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "common/spec/parameter.h"
#include "common/spec/yaml_document.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/study_members.h"
#include "coordinator/api/study_trials.h"

namespace podium {
namespace {

using nlohmann::json;

// Parses the spec as it was written; it passed this check once.
json written(const ExperimentView& experiment) {
  SourceMap places;
  Problems unread(experiment.file, places);
  return read_yaml(experiment.spec, places, unread).value_or(json::object());
}

std::string_view study_state(const std::map<JobState, int>& states) {
  const auto any = [&states](std::initializer_list<JobState> wanted) {
    return std::ranges::any_of(wanted, [&](JobState state) { return states.contains(state); });
  };
  const bool begun = any({JobState::succeeded, JobState::failed, JobState::cancelled, JobState::stopped});
  if (any({JobState::starting, JobState::running, JobState::stopping})) return "running";
  if (any({JobState::queued})) return begun ? "running" : "queued";
  if (any({JobState::failed})) return "failed";
  return any({JobState::cancelled}) ? "cancelled" : "succeeded";
}

json scaling_json(const json& spec) {
  if (!spec.contains("scaling")) return nullptr;
  const json& scaling = spec.at("scaling");
  return {{"devices", scaling.at("devices")},
          {"mode", scaling.value("mode", "weak")},
          {"repeat", scaling.value("repeat", 1)},
          {"together", scaling.value("together", true)}};
}

json rate_json(const std::optional<SteadyRate>& rate) {
  if (!rate) return nullptr;
  return {{"median", rate->median}, {"low", rate->low}, {"high", rate->high}, {"points", rate->points}};
}

json identity_json(const std::optional<TimeEfficiency>& time) {
  if (!time) return nullptr;
  return {{"efficiency", time->efficiency},
          {"throughput", time->throughput},
          {"samples", time->samples},
          {"stepping", time->stepping}};
}

json scaling_row_json(const ScalingRow& row) {
  json jobs = json::array();
  for (const JobId job : row.jobs) jobs.push_back(job.value);
  return {{"devices", row.devices},
          {"jobs", std::move(jobs)},
          {"so_far", row.so_far},
          {"reached", row.reached},
          {"samples_per_second", rate_json(row.samples)},
          {"tokens_per_second", rate_json(row.tokens)},
          {"per_device", or_null(row.per_device)},
          {"speed_up", or_null(row.speed_up)},
          {"efficiency", or_null(row.efficiency)},
          {"model_flops_per_second", or_null(row.model_flops)},
          {"mfu", or_null(row.mfu)},
          {"time_to_train_seconds", or_null(row.time_to_train_seconds)},
          {"samples_to_target", or_null(row.samples_to_target)},
          {"stepping_share", or_null(row.stepping_share)},
          {"evaluation_share", or_null(row.evaluation_share)},
          {"checkpoint_share", or_null(row.checkpoint_share)},
          {"time_efficiency", identity_json(row.time_efficiency)}};
}

json member_json(const StudyMember& member, const std::optional<SweepView>& sweep) {
  const JobView& job = member.job;
  return {{"job", job.id.value},
          {"name", job.request.name},
          {"state", to_string(job.state)},
          {"devices", member.run.devices},
          {"kind", job.request.kind},
          {"parameters", member.parameters},
          {"seed", or_null(member.seed)},
          {"restarts", job.restarts},
          {"artificial", member.artificial},
          {"reason", job.reason},
          {"time_to_train_seconds", or_null(job.time_to_train_seconds)},
          {"trial", sweep ? trial_json(member, sweep->rule) : json()}};
}

// A table for each combination of swept values; none where the study scales nothing.
json tables_json(const std::vector<StudyMember>& members) {
  std::map<json, std::vector<ScalingRun>> runs;
  for (const StudyMember& member : members) runs[member.parameters].push_back(member.run);
  json tables = json::array();
  for (const auto& [parameters, of_them] : runs) {
    const ScalingTable table = scaling_table(of_them);
    json rows = json::array();
    for (const ScalingRow& row : table.rows) rows.push_back(scaling_row_json(row));
    tables.push_back({{"parameters", parameters},
                      {"base", or_null(table.base)},
                      {"sentence", scaling_sentence(table)},
                      {"slots_share_cores", members.front().job.request.kind == "cpu"},
                      {"rows", std::move(rows)}});
  }
  return tables;
}

json warnings_json(const std::vector<StudyWarning>& warnings) {
  json list = json::array();
  for (const StudyWarning& warning : warnings)
    list.push_back({{"code", warning.code}, {"job", warning.job.value}, {"sentence", warning.sentence}});
  return list;
}

json facts_json(const StudyView& study, const json& spec) {
  json states = json::object();
  for (const auto& [state, count] : study.states) states[std::string(to_string(state))] = count;
  const ExperimentView& experiment = study.experiment;
  return {{"id", experiment.id.value},
          {"name", experiment.name},
          {"kind", spec.contains("scaling") ? "scaling" : "sweep"},
          {"state", study_state(study.states)},
          {"states", std::move(states)},
          {"created_ms", to_millis(experiment.created)},
          {"scaling", scaling_json(spec)},
          {"sweep", spec.contains("sweep") ? spec.at("sweep") : json()}};
}

}  // namespace

json study_json(const StudyView& study) { return facts_json(study, written(study.experiment)); }

json study_details_json(Reader& reader, const StudyView& study, Time now) {
  const json spec = written(study.experiment);
  const std::optional<SweepView> sweep = reader.sweep(study.experiment.id);
  const std::vector<StudyMember> members = read_members(reader, study.experiment, spec, sweep, now);
  json out = facts_json(study, spec);
  out["members"] = json::array();
  for (const StudyMember& member : members) out["members"].push_back(member_json(member, sweep));
  out["asha"] = sweep ? asha_json(*sweep, members) : json();
  out["tables"] = spec.contains("scaling") ? tables_json(members) : json::array();
  out["warnings"] = warnings_json(warnings_of(members, sweep, reader.shared_nodes(study.experiment.id)));
  return out;
}

}  // namespace podium
