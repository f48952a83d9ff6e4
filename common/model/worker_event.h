// events.jsonl: the reports of a running task, one JSON object on each line, appended and never rewritten.
// The agent ships the file's bytes unread; the coordinator parses them here. Unknown fields are ignored.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/time.h"
#include "common/model/origin.h"
#include "common/model/text_identity.h"

namespace podium {

// {"type":"started","t":ms,"step":first,"steps":last,"parameters":n?,"device":"…"?,"text":{"tokens":n,
// "sentences":n,"xxh3":"…"}?,"origin":{"path":"…","step":n,"xxh3":"…"}?}: training begins after `step`, on
// that text; its first weights, at step 0, are those of the checkpoint `origin`.
struct StartedEvent {
  std::int64_t step = 0;
  std::int64_t steps = 0;
  std::int64_t parameters = 0;
  std::string device;
  std::optional<TextIdentity> text = {};
  std::optional<Origin> origin = {};
};

// {"type":"metrics","t":ms,"step":n,"values":{"train/loss":1.5,…}}; rank 0 only. Steps count finished
// optimizer steps.
struct MetricsEvent {
  std::int64_t step = 0;
  std::vector<std::pair<std::string, double>> values;
};

// A held-out metric, and its value.
struct BestValue {
  std::string metric;
  double value = 0;

  bool operator==(const BestValue&) const = default;
};

// {"type":"checkpoint","t":ms,"step":n,"path":"step-00000200","bytes":n?,"seconds":s?,
// "best":{"metric":"eval/f1","value":x}?,"again":true?}: whole and on disk; with `best` the best of the job
// so far; `again`: found there by an attempt that resumes, which an earlier one may not have lived to tell.
struct CheckpointEvent {
  std::int64_t step = 0;
  std::string path;
  std::int64_t bytes = 0;
  double seconds = 0;
  std::optional<BestValue> best = {};
  bool again = false;
};

// {"type":"target","t":ms,"step":n,"metric":"eval/mlm_loss","value":x}: the clock stops at t.
struct TargetEvent {
  std::int64_t step = 0;
  std::string metric;
  double value = 0;
};

// {"type":"note","t":ms,"level":"info|warning|error","message":"…"}: for people; an error says why the task
// ends.
struct NoteEvent {
  std::string level;
  std::string message;
};

// {"type":"finished","t":ms,"step":n,"status":"succeeded|preempted|failed"}: the last line of a task, where
// it could write it.
struct FinishedEvent {
  std::int64_t step = 0;
  std::string status;
};

// What training does from t on, for the job's ledger; rank 0 only. `started` also begins stepping, and
// `finished` ends the current phase.
enum class WorkerPhase { rendezvous, loading, stepping, evaluating, checkpointing };

// {"type":"phase","t":ms,"phase":"rendezvous|loading|stepping|evaluating|checkpointing","step":n?}: so many
// steps are finished at t. Checkpointing is only what training waits for.
struct PhaseEvent {
  WorkerPhase phase = WorkerPhase::stepping;
  std::optional<std::int64_t> step;
};

std::string_view to_string(WorkerPhase phase);

struct WorkerEvent {
  Time time;
  std::variant<StartedEvent, MetricsEvent, CheckpointEvent, TargetEvent, NoteEvent, FinishedEvent, PhaseEvent>
      body;
};

nlohmann::json to_json(const WorkerEvent& event);
WorkerEvent worker_event_from_json(const nlohmann::json& json);

}  // namespace podium
