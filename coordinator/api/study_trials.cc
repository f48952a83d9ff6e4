#include "coordinator/api/study_trials.h"

#include <algorithm>
#include <cmath>

namespace podium {
namespace {

using nlohmann::json;

json finite(double value) { return std::isfinite(value) ? json(value) : json(); }

std::string_view trial_state(const StudyMember& member) {
  switch (member.job.state) {
    case JobState::succeeded:
      return "finished";
    case JobState::failed:
    case JobState::cancelled:
    case JobState::stopped:
      return to_string(member.job.state);
    default:
      break;
  }
  if (member.trial->paused) return "paused";
  return member.job.state == JobState::queued ? "waiting" : "running";
}

json rungs_json(const SweepView& sweep) {
  json rungs = json::array();
  for (const std::int64_t step : rung_steps(sweep.rule)) {
    const int rung = static_cast<int>(rungs.size()) + 1;
    const auto count = [&sweep](const auto& counts) {
      return std::ranges::count_if(sweep.trials, [&](const auto& entry) { return counts(entry.second); });
    };
    rungs.push_back(
        {{"rung", rung},
         {"step", step},
         {"told", count([rung](const TrialView& t) { return t.rung >= rung && t.reports.contains(rung); })},
         {"went_on", count([rung](const TrialView& t) { return t.rung > rung; })}});
  }
  return rungs;
}

// The trial whose newest value is best among those that were trained longest.
json best_json(const Asha& rule, const std::vector<StudyMember>& members) {
  const StudyMember* best = nullptr;
  const auto key = [](const StudyMember& member) { return member.trial->rung; };
  for (const StudyMember& member : members) {
    if (!member.judged || !std::isfinite(member.judged->last)) continue;
    if (!best || key(member) > key(*best) ||
        (key(member) == key(*best) && rule.better(member.judged->last, best->judged->last)))
      best = &member;
  }
  if (!best) return nullptr;
  return {{"job", best->job.id.value},
          {"parameters", best->parameters},
          {"step", best->judged->last_step},
          {"value", best->judged->last}};
}

// Estimates by the device time that a step has taken so far.
json full_json(const Asha& rule, const std::vector<StudyMember>& members) {
  double seconds = 0;
  std::int64_t steps = 0;
  for (const StudyMember& member : members)
    if (member.steps > 0) {
      seconds += member.device_seconds;
      steps += member.steps;
    }
  if (steps == 0) return nullptr;
  return seconds / static_cast<double>(steps) * static_cast<double>(rule.max_steps) *
         static_cast<double>(members.size());
}

}  // namespace

json asha_json(const SweepView& sweep, const std::vector<StudyMember>& members) {
  double spent = 0;
  for (const StudyMember& member : members) spent += member.device_seconds;
  json out = to_json(sweep.rule);
  out["rungs"] = rungs_json(sweep);
  out["best"] = best_json(sweep.rule, members);
  out["device_seconds"] = spent;
  out["full_device_seconds"] = full_json(sweep.rule, members);
  return out;
}

json trial_json(const StudyMember& member, const Asha& rule) {
  if (!member.trial) return nullptr;
  json reports = json::array();
  int reached = 0;
  for (const auto& [rung, report] : member.trial->reports) {
    if (rung > member.trial->rung) continue;  // it was stopped later than it should, and is not judged there
    reports.push_back(
        {{"rung", rung}, {"step", report.step}, {"value", report.value ? json(*report.value) : json()}});
    reached = rung;
  }
  json latest;
  if (member.judged) latest = {{"step", member.judged->last_step}, {"value", finite(member.judged->last)}};
  const bool to_its_end = member.trial->rung > std::ssize(rung_steps(rule));
  return {{"state", trial_state(member)},
          {"rung", reached},
          {"to_its_end", to_its_end},
          {"reports", std::move(reports)},
          {"latest", latest},
          {"steps", member.steps},
          {"device_seconds", member.device_seconds}};
}

}  // namespace podium
