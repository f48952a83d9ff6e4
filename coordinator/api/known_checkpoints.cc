#include "coordinator/api/known_checkpoints.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "common/base/units.h"
#include "common/model/kept_checkpoints.h"

namespace podium {
namespace {

constexpr Duration kToldWithin = std::chrono::minutes(2);  // of the end: what a job's files say

// The steps that are saved; each once, in order.
std::string steps_text(const std::vector<std::int64_t>& steps) {
  constexpr std::size_t kMostNamed = 5;
  std::string text = steps.size() > kMostNamed ? "…" : "";
  for (std::size_t i = steps.size() - std::min(steps.size(), kMostNamed); i < steps.size(); ++i)
    text += (text.empty() ? "" : ", ") + std::to_string(steps[i]);
  return text;
}

}  // namespace

std::vector<bool> removed_checkpoints(const std::vector<CheckpointView>& saved, int keep) {
  std::map<int, std::vector<std::int64_t>> steps;  // of an attempt, in order
  for (const CheckpointView& one : saved) steps[one.attempt].push_back(one.step);
  std::vector<bool> removed;
  for (const CheckpointView& one : saved)
    removed.push_back(
        !one.best && std::any_of(steps.lower_bound(one.attempt), steps.end(), [&](const auto& of) {
          return std::distance(std::ranges::upper_bound(of.second, one.step), of.second.end()) >= keep;
        }));
  return removed;
}

std::optional<KnownJob> known_job(Reader& reader, JobId id) {
  const auto text = reader.job_spec(id);
  const auto view = reader.job(id);
  if (!text || !view) return std::nullopt;
  if (view->tracked) {
    KnownJob run;
    run.spec.name = view->request.name;
    run.tracked = true;
    return run;
  }
  const std::vector<AttemptView> attempts = reader.attempts(id);
  const bool silent = std::ranges::any_of(attempts, [](const AttemptView& attempt) {
    return std::ranges::any_of(attempt.tasks,
                               [](const TaskView& task) { return task.pid > 0 && !task.exit; });
  });
  return KnownJob{job_spec_from_json(nlohmann::json::parse(*text)),
                  false,
                  view->started.has_value(),
                  view->ended,
                  silent,
                  reader.checkpoints(id)};
}

std::string why_no_checkpoint(const KnownJob& job, std::optional<std::int64_t> step, Time now) {
  if (job.tracked) return "a program elsewhere logs it, and Podium has no checkpoints of it";
  if (!job.spec.command.empty()) return "";  // it need not tell of those that it writes
  const bool all_told = job.ended && !job.silent && (!job.has_run || now - *job.ended > kToldWithin);
  const std::vector<bool> removed = removed_checkpoints(job.checkpoints, job.spec.checkpoint.keep);
  std::vector<std::int64_t> there;
  bool saved = false;
  for (std::size_t i = 0; i < removed.size(); ++i) {
    if (!removed[i]) there.push_back(job.checkpoints[i].step);
    saved |= job.checkpoints[i].step == step;
  }
  std::ranges::sort(there);
  there.erase(std::ranges::unique(there).begin(), there.end());
  if (step ? std::ranges::binary_search(there, *step) : !there.empty()) return "";
  if (step && saved)
    return "newer checkpoints have taken the place of that of step " + std::to_string(*step) +
           "; it has those of " + steps_text(there);
  if (job.ended && !all_told) return "";
  if (!job.ended) return step ? why_never_kept(job.spec, *step) : "";
  if (there.empty())
    return job.has_run ? "it has ended without a checkpoint" : "it has ended without having run";
  return "it has no checkpoint of step " + std::to_string(*step) + ", only of " + steps_text(there);
}

}  // namespace podium
