#include "worker/train/progress.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "common/base/logging.h"

namespace podium {
namespace {

CheckpointEvent event_of(const FinishedSave& save) {
  CheckpointEvent event{save.step, save.name, save.bytes, save.seconds};
  if (save.best.known() && save.best.step == save.step) event.best = {save.best.metric, save.best.value};
  return event;
}

}  // namespace

Progress::Progress(EventLog& events, std::optional<TargetSpec> target, std::int64_t steps, bool lead)
    : events_(events), target_(std::move(target)), steps_(steps), lead_(lead) {}

void Progress::started(std::int64_t step, std::int64_t parameters, const std::string& device,
                       const TextIdentity& text, const Origin& origin) {
  events_.write(StartedEvent{step, steps_, parameters, device, text,
                             origin.known() ? std::optional(origin) : std::nullopt});
  phase_ = WorkerPhase::stepping;
}

bool Progress::metrics(std::int64_t step, const Metrics& metrics) {
  if (lead_) {
    std::string line;
    for (const auto& [name, value] : metrics) line += fmt::format(" {}={:.5g}", name, value);
    spdlog::info("step {}/{}{}", step, steps_, line);
    events_.write(MetricsEvent{step, metrics});
  }
  if (!target_ || reached_) return false;
  const auto found = std::ranges::find(metrics, target_->metric, &Metrics::value_type::first);
  if (found == metrics.end()) return false;
  last_target_value_ = found->second;
  reached_ = target_->reached(found->second);
  if (reached_ && lead_) events_.write(TargetEvent{step, found->first, found->second});
  return reached_;
}

void Progress::saved(const FinishedSave& save) { events_.write(event_of(save)); }

void Progress::found(const std::vector<FinishedSave>& saves) {
  if (!lead_) return;
  for (const FinishedSave& save : saves) {
    CheckpointEvent event = event_of(save);
    event.again = true;
    events_.write(event);
  }
}

void Progress::phase(WorkerPhase phase, std::int64_t step) {
  if (std::exchange(phase_, phase) == phase || !lead_) return;
  events_.write(PhaseEvent{phase, step});
}

void Progress::note(const std::string& level, const std::string& message) {
  if (!lead_) return;
  spdlog::log(level == "warning" ? spdlog::level::warn : spdlog::level::info, message);
  events_.note(level, message);
}

void Progress::finished(std::int64_t step, const std::string& status) {
  events_.write(FinishedEvent{step, status});
}

std::string Progress::describe_target() const {
  return fmt::format("{} {} {}", target_->metric, target_->at_least ? "at least" : "at most",
                     target_->at_least ? *target_->at_least : *target_->at_most);
}

}  // namespace podium
