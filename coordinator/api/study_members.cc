#include "coordinator/api/study_members.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "common/model/flops.h"
#include "common/model/spec.h"
#include "common/spec/load.h"
#include "common/spec/parameter.h"
#include "common/spec/sweep.h"
#include "coordinator/tracking/device_peaks.h"
#include "coordinator/tracking/ledger.h"

namespace podium {
namespace {

using nlohmann::json;

// The most points of rates that are read for all jobs of a study, and for one job; longer series are thinned.
constexpr std::size_t kMostPointsOfStudy = 1'000'000;
constexpr std::size_t kLeastOfJob = 2'000, kMostOfJob = 200'000;
constexpr std::array kSamples = {"train/sequences_per_second", "sequences_per_second", "samples_per_second"};
constexpr std::array kTokens = {"train/tokens_per_second", "tokens_per_second"};

bool is_seed(const std::string& path) { return path == "training.seed" || path == "parameters.seed"; }

json value_at(const json& spec, const std::string& path) {
  return spec.value(json::json_pointer(pointer_of(path)), json());
}

json swept_values(const json& spec, const json& job) {
  json values = json::object();
  if (!spec.contains("sweep")) return values;
  for (const std::string& path : swept_paths(spec.at("sweep")))
    if (!is_seed(path)) values[path] = value_at(job, path);
  return values;
}

// The first of the names that the job's metrics have, or that one of them ends in.
Series rate_series(Reader& reader, JobId job, const std::vector<MetricSummary>& metrics,
                   std::span<const char* const> names, int points) {
  for (const char* name : names)
    for (const MetricSummary& metric : metrics)
      if (metric.key == name || metric.key.ends_with(std::string("/") + name))
        return reader.series(job, metric.key, points).points;
  return {};
}

std::optional<double> samples_to_target(Reader& reader, const JobView& job, const JobSpec& spec) {
  if (!job.time_to_train_seconds || !spec.trains()) return std::nullopt;
  std::optional<std::int64_t> last = job.target ? job.target->reached_step : std::nullopt;
  if (!job.target && job.progress) last = job.progress->step;
  if (!last) return std::nullopt;
  return samples_between(spec.training, first_step_of(reader.attempts(job.id)), *last);
}

// Only where the job told what training does.
void add_shares(const std::vector<LedgerTotal>& totals, ScalingRun& run) {
  double held = 0, evaluating = 0, checkpointing = 0;
  bool told = false;
  for (const LedgerTotal& total : totals) {
    const double seconds = std::chrono::duration<double>(total.wall).count();
    if (is_held(total.kind)) held += seconds;
    if (total.kind == LedgerKind::evaluating) evaluating += seconds;
    if (total.kind == LedgerKind::checkpointing) checkpointing += seconds;
    told |= total.kind == LedgerKind::stepping;
  }
  if (!told) return;
  run.held_seconds = held;
  run.evaluating_seconds = evaluating;
  run.checkpointing_seconds = checkpointing;
}

double held_device_seconds(const std::vector<LedgerTotal>& totals) {
  std::int64_t millis = 0;
  for (const LedgerTotal& total : totals)
    if (is_held(total.kind)) millis += total.device_ms;
  return static_cast<double>(millis) / 1000;
}

void add_trial(const SweepView& sweep, const std::vector<MetricSummary>& metrics, StudyMember& member) {
  member.trial = sweep.trials.at(member.job.id);
  const auto judged = std::ranges::find(metrics, sweep.rule.metric, &MetricSummary::key);
  if (judged != metrics.end()) member.judged = *judged;
}

std::optional<double> peak_of(const ComparedJob& hardware, const JobSpec& spec) {
  if (hardware.device_models.size() != 1 || hardware.artificial) return std::nullopt;
  return peak_flops(hardware.device_models.front(), spec.training.precision, spec.training.fp8);
}

// `points`: how many points of its rates; 0 where they are not wanted.
StudyMember read_member(Reader& reader, const JobView& job, const json& spec,
                        const std::optional<SweepView>& sweep, int points, Time now) {
  const json written = json::parse(reader.job_spec(job.id).value_or("{}"));
  const JobSpec parsed = job_spec_from_json(written);
  const ComparedJob hardware = reader.compared(job, {{}, now});
  const std::vector<MetricSummary> metrics = reader.metrics(job.id);
  StudyMember member{job, {}, swept_values(spec, written), {}, hardware.artificial, true};
  const json seed = value_at(written, parsed.command.empty() ? "training.seed" : "parameters.seed");
  if (seed.is_number_integer()) member.seed = seed.get<std::int64_t>();
  member.told_target =
      !job.target || std::ranges::find(metrics, job.target->metric, &MetricSummary::key) != metrics.end();
  ScalingRun& run = member.run;
  run.job = job.id;
  run.state = job.state;
  run.devices = job.request.devices;
  if (points > 0) {
    run.samples_rate = rate_series(reader, job.id, metrics, kSamples, points);
    run.tokens_rate = rate_series(reader, job.id, metrics, kTokens, points);
  }
  run.time_to_train_seconds = job.time_to_train_seconds;
  run.samples_to_target = samples_to_target(reader, job, parsed);
  run.flops_per_sample = training_flops_of_sequence(parsed);
  run.peak_flops = peak_of(hardware, parsed);
  const std::vector<LedgerTotal> totals = totals_of(make_ledger(reader.ledger(job.id), now));
  add_shares(totals, run);
  member.device_seconds = held_device_seconds(totals);
  for (const AttemptView& attempt : reader.attempts(job.id))
    member.steps = std::max(member.steps, attempt.last_step.value_or(0));
  if (sweep) add_trial(*sweep, metrics, member);
  return member;
}

std::string name_of(const StudyMember& member) {
  return fmt::format("job {} ({} device{})", member.job.id.value, member.run.devices,
                     member.run.devices == 1 ? "" : "s");
}

void warn_of_member(const StudyMember& member, std::vector<StudyWarning>& warnings) {
  const JobView& job = member.job;
  const auto warn = [&](const char* code, const std::string& what) {
    warnings.push_back({code, job.id, name_of(member) + " " + what});
  };
  const std::string why = job.reason.empty() ? "" : ": " + job.reason;
  if (job.state == JobState::failed) warn("failed", "failed" + why + "; its figures count for nothing");
  if (job.state == JobState::cancelled)
    warn("cancelled", "was cancelled" + why + "; its figures count for nothing");
  if (!is_terminal(job.state) && !member.trial) warn("unfinished", "has not ended");
  if (job.state == JobState::succeeded && job.target && !member.told_target)
    warn("target_never_told", "never told " + job.target->metric + ", which its target names");
  else if (job.state == JobState::succeeded && job.target && !job.target->reached)
    warn("target_not_reached", "ended before it reached its target");
  if (job.restarts > job.restart_counts.promotions)
    warn("restarted", fmt::format("was started again {}; its time-to-train has what that cost",
                                  job.restarts == 1 ? "once" : fmt::format("{} times", job.restarts)));
  if (member.artificial) warn("artificial", "ran on devices that were made up");
}

// A trial that tells nothing is not judged and trains on to its end.
void warn_of_silence(const StudyMember& member, const Asha& rule, std::vector<StudyWarning>& warnings) {
  const std::vector<std::int64_t> steps = rung_steps(rule);
  const int rung = member.trial->rung;
  if (rung > std::ssize(steps) || member.trial->reports.contains(rung)) return;
  const std::int64_t at = steps[static_cast<std::size_t>(rung) - 1];
  const std::string name = name_of(member) + " ";
  const bool over = is_terminal(member.job.state);
  if (over && member.job.state != JobState::succeeded) return;
  if (!over && member.steps < at) return;
  warnings.push_back(
      {"metric_never_told", member.job.id,
       name +
           (over ? "ended without telling " : fmt::format("is at step {} and has not told ", member.steps)) +
           fmt::format("{} at rung {} (step {}): it is not judged", rule.metric, rung, at)});
}

// "node-1 and node-2", "node-1, node-2 and 3 more"
std::string some_of(const std::set<std::string>& names) {
  constexpr std::size_t kMostNamed = 3;
  std::string text;
  std::size_t told = 0;
  for (const std::string& name : names) {
    if (told == kMostNamed) return text + fmt::format(" and {} more", names.size() - told);
    text += (told == 0 ? "" : told + 1 == names.size() ? " and " : ", ") + name;
    ++told;
  }
  return text;
}

}  // namespace

std::int64_t first_step_of(const std::vector<AttemptView>& attempts) {
  for (const AttemptView& attempt : attempts)
    if (attempt.first_step) return *attempt.first_step;
  return 0;
}

double samples_between(const TrainingSpec& training, std::int64_t first, std::int64_t last) {
  double samples = 0;
  std::int64_t begin = 0;
  const auto add = [&](const ScheduleSpec& schedule, const BatchSpec& batch) {
    const std::int64_t from = std::max(first, begin), to = std::min(last, begin + schedule.steps);
    if (to > from) samples += static_cast<double>((to - from) * batch.global);
    begin += schedule.steps;
  };
  add(training.schedule, training.batch);
  for (const PhaseSpec& phase : training.phases) add(phase.schedule, phase.batch);
  return samples;
}

std::vector<StudyMember> read_members(Reader& reader, const ExperimentView& experiment, const json& spec,
                                      const std::optional<SweepView>& sweep, Time now) {
  JobFilter filter;
  filter.experiment = experiment.id;
  filter.sort.descending = false;
  filter.limit = static_cast<int>(kMaxJobsOfExperiment);
  const std::vector<JobView> jobs = reader.jobs(filter).jobs;
  const std::size_t part = kMostPointsOfStudy / std::max<std::size_t>(1, jobs.size());
  const int points =
      spec.contains("scaling") ? static_cast<int>(std::clamp(part, kLeastOfJob, kMostOfJob)) : 0;
  std::vector<StudyMember> members;
  for (const JobView& job : jobs) members.push_back(read_member(reader, job, spec, sweep, points, now));
  return members;
}

std::vector<StudyWarning> warnings_of(const std::vector<StudyMember>& members,
                                      const std::optional<SweepView>& sweep,
                                      const std::vector<SharedNode>& shared) {
  std::vector<StudyWarning> warnings;
  for (const StudyMember& member : members) {
    warn_of_member(member, warnings);
    if (sweep) warn_of_silence(member, sweep->rule, warnings);
    std::set<std::string> nodes, others;
    for (const SharedNode& each : shared) {
      if (each.job != member.job.id) continue;
      nodes.insert(each.node.value);
      others.insert("job " + std::to_string(each.other.value));
    }
    if (!nodes.empty())
      warnings.push_back({"shared_node", member.job.id,
                          fmt::format("{} shared {} with {}: alone it may have been faster", name_of(member),
                                      some_of(nodes), some_of(others))});
  }
  return warnings;
}

}  // namespace podium
