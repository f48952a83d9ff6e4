// What a run tells the world while it trains: events.jsonl and the log. Every rank tells when it starts and
// finishes; the lead, rank 0, also metrics, notes, checkpoints and phases. Knows the target and whether it
// was reached.
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
  // `steps` of the whole training. `events` must outlive this.
  Progress(EventLog& events, std::optional<TargetSpec> target, std::int64_t steps, bool lead);

  // On `device`, as describe_device() says it.
  void started(std::int64_t step, std::int64_t parameters, const std::string& device,
               const TextIdentity& text);
  // True where a metric has brought the target within reach for the first time.
  bool metrics(std::int64_t step, const Metrics& metrics);
  void saved(const FinishedSave& save);
  // What training does from now on; told where it is something else.
  void phase(WorkerPhase phase, std::int64_t step);
  void note(const std::string& level, const std::string& message);
  // The last line.
  void finished(std::int64_t step, const std::string& status);

  // "eval/mlm_loss at most 1.5", and the last value seen of it.
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
