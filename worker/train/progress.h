// What a run reports while it trains, in events.jsonl and the log. Every rank reports when it starts and
// finishes; the lead, rank 0, also reports metrics, notes, checkpoints and phases. Knows the target and
// whether it was reached.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "common/model/spec.h"
#include "worker/checkpoint/writer.h"
#include "worker/train/event_log.h"
#include "worker/train/task.h"

namespace podium {

class Progress {
 public:
  // The whole training has `steps` steps. `events` must outlive this.
  Progress(EventLog& events, std::optional<TargetSpec> target, std::int64_t steps, bool lead);

  // `device` is what describe_device() returns; `origin` may be unknown.
  void started(std::int64_t step, std::int64_t parameters, const std::string& device,
               const TextIdentity& text, const Origin& origin);
  // Returns true if a metric reaches the target for the first time.
  bool metrics(std::int64_t step, const Metrics& metrics);
  void saved(const FinishedSave& save);
  // Tells of checkpoints once more with which the run goes on.
  void found(const std::vector<FinishedSave>& saves);
  // Says what training does from now on; reports it if that has changed.
  void phase(WorkerPhase phase, std::int64_t step);
  void note(const std::string& level, const std::string& message);
  // Writes the last line.
  void finished(std::int64_t step, const std::string& status);

  // The target, such as "eval/mlm_loss at most 1.5", and the last value of its metric.
  std::string describe_target() const;
  std::optional<double> last_target_value() const { return last_target_value_; }

 private:
  EventLog& events_;
  const std::optional<TargetSpec> target_;
  const std::int64_t steps_;
  const bool lead_;
  bool reached_ = false;
  WorkerPhase phase_ = WorkerPhase::loading;
  std::optional<double> last_target_value_;
};

}  // namespace podium
