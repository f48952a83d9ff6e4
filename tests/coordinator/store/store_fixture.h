// A store on a real folder whose callbacks run at once, and the small cluster that its tests need.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "coordinator/store/store.h"
#include "tests/temp_folder.h"

namespace podium {

inline Time at_second(int second) { return from_millis(1'700'000'000'000 + 1000 * second); }

inline Store::Post at_once() {
  return [](std::function<void()> work) { work(); };
}

// Blocks until the turn is on disk.
inline void commit_now(Store& store, Commit turn) {
  std::promise<void> done;
  store.commit(std::move(turn), [&] { done.set_value(); });
  done.get_future().wait();
}

inline Result<std::shared_ptr<StreamBatch>> ingest_now(Store& store, std::string body,
                                                       const std::string& node = "node-1",
                                                       const WriterClock& clock = {SystemClock().now()}) {
  Result<std::shared_ptr<StreamBatch>> streams = read_streams({node}, std::move(body));
  if (!streams) return streams;
  (*streams)->clock = clock;
  std::promise<std::optional<Error>> done;
  store.ingest(*streams, [&](const std::optional<Error>& error) { done.set_value(error); });
  if (const auto error = done.get_future().get()) return *error;
  return streams;
}

inline Events queued_job(std::int64_t id, const std::string& name = "tiny") {
  JobRequest request;
  request.name = name;
  request.kind = "cpu";
  return {{at_second(0), ExperimentCreated{{id}, name}}, {at_second(0), JobQueued{{id}, {id}, request}}};
}

inline NodeDescription one_slot_node() {
  NodeDescription node{{"node-1"}, "127.0.0.1", "0.1.0", "boot", {}, {Device{}}};
  return node;
}

inline Events started_attempt(std::int64_t job, int number, int second) {
  Allocation allocation;
  allocation.ranks.push_back({{"node-1"}, 0, 0, 1, 0, 1});
  allocation.nodes = 1;
  const AttemptId attempt{{job}, number};
  return {{at_second(second), AttemptCreated{attempt, allocation}},
          {at_second(second), JobStateChanged{{job}, JobState::queued, JobState::starting, ""}},
          {at_second(second), TaskStarted{{attempt, 0}, 42}},
          {at_second(second), JobStateChanged{{job}, JobState::starting, JobState::running, ""}}};
}

inline Events failed_attempt(std::int64_t job, int number, int second) {
  const AttemptId attempt{{job}, number};
  return {{at_second(second), TaskExited{{attempt, 0}, {0, 9, ""}}},
          {at_second(second), AttemptStopping{attempt, StopCause::task_failed, "rank 0 failed"}},
          {at_second(second), JobStateChanged{{job}, JobState::running, JobState::stopping, "rank 0 failed"}},
          {at_second(second), AttemptEnded{attempt, AttemptEnd::failed, "killed"}},
          {at_second(second), RetryPlanned{{job}, {}, std::nullopt, {}}},
          {at_second(second),
           JobStateChanged{{job}, JobState::stopping, JobState::queued, "killed; queued again"}}};
}

inline bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < end) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

inline const char* target_spec() {
  return R"({"labels":{"team":"nlp"},"target":{"metric":"eval/mlm_loss","at_most":2.0}})";
}

// Job 1 runs its first attempt on node-1.
inline void start_job(Store& store) {
  Commit turn{
      queued_job(1), ExperimentText{{1}, "name: tiny", "tiny.yaml", "", "key-1", {target_spec()}}, {}, {}};
  turn.events.push_back({at_second(0), NodeJoined{one_slot_node()}});
  const Events started = started_attempt(1, 1, 10);
  turn.events.insert(turn.events.end(), started.begin(), started.end());
  turn.secrets.push_back({{{1}, 1}, "secret-1"});
  commit_now(store, std::move(turn));
}

inline std::string chunk(int attempt, std::int64_t offset, std::string_view bytes,
                         StreamKind stream = StreamKind::events, int rank = 0) {
  std::string body;
  append_chunk(body, {{{{1}, attempt}, rank}, stream, offset, bytes});
  return body;
}

// With which the file ends.
inline std::string final_chunk(int attempt, std::int64_t offset, std::string_view bytes) {
  std::string body;
  append_chunk(body, {{{{1}, attempt}, 0}, StreamKind::events, offset, bytes, true});
  return body;
}

inline std::string checkpoint_line(std::int64_t step) {
  return R"({"type":"checkpoint","t":1700000020000,"step":)" + std::to_string(step) +
         R"(,"path":"step","bytes":1000,"seconds":0.1})"
         "\n";
}

inline std::string metrics_line(std::int64_t step, double loss) {
  return R"({"step":)" + std::to_string(step) + R"(,"t":)" + std::to_string(1'700'000'000'000 + step * 100) +
         R"(,"type":"metrics","values":{"train/loss":)" + std::to_string(loss) + "}}\n";
}

}  // namespace podium
