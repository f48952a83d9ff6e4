// Generates for requests on a thread of its own, a token of each a step: a request joins as soon as a slot is
// free, at most one a step, and leaves when it ends, its time is over or its client has gone.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "worker/generate/generation_batch.h"
#include "worker/serve/batch_queue.h"
#include "worker/serve/queue_room.h"
#include "worker/serve/serve_meter.h"

namespace podium {

struct GenerationEnded {
  enum class Kind { done, expired, failed };

  Kind kind = Kind::done;
  Generation generation;  // where done
};

// What is told comes on the engine's thread, and throws nothing.
struct GenerationTask {
  GenerationRequest request;
  GenerationRule rule;
  ServeTime arrived;
  ServeTime deadline;
  std::function<void(std::string text)> on_text;
  std::function<void(GenerationEnded ended)> on_end;  // once, at the end
};

class GenerationEngine {
 public:
  // All outlive it. At most `max_waiting` requests wait for a slot.
  GenerationEngine(GenerationSession& session, const BpeTokenizer& tokenizer, std::size_t max_waiting,
                   ServeMeter& meter);
  ~GenerationEngine();  // after the step that is being computed

  bool is_computing() const;

  // A place for a request. Nothing where the queue is full.
  std::optional<QueueRoom> reserve();
  // The number that the request has.
  std::size_t submit(GenerationTask task, QueueRoom room);
  // Nobody asks for it any more: it leaves before the next step, and is not told its end.
  void cancel(std::size_t number);
  std::size_t waiting() const;  // with requests whose prompts are not tokens yet

 private:
  struct Numbered {
    std::size_t number = 0;
    std::shared_ptr<GenerationTask> task;
  };

  void run();
  void remove_cancelled();
  std::vector<Numbered> take_late(ServeTime now);
  std::vector<Numbered> take_next();
  void compute(const std::vector<Numbered>& begin);
  void begin(const Numbered& one);
  void fail(std::size_t number, const std::exception_ptr& why);
  void fail_all();

  const std::size_t max_waiting_;
  ServeMeter& meter_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<Numbered> waiting_;
  std::vector<std::size_t> cancelled_;
  std::size_t next_number_ = 0;
  std::size_t reserved_ = 0;
  bool closing_ = false;
  bool computing_ = false;
  // Of the engine's thread.
  GenerationBatch batch_;
  std::map<std::size_t, std::shared_ptr<GenerationTask>> going_;

  std::thread thread_;
};

}  // namespace podium
