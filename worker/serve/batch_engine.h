// Computes the sequences of requests on a thread of its own, batch after batch (batch_queue.h says which).
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "worker/infer/text_inference.h"
#include "worker/serve/batch_queue.h"
#include "worker/serve/compute_speed.h"
#include "worker/serve/queue_room.h"
#include "worker/serve/serve_meter.h"

namespace podium {

// What is computed of a sequence; sequences of one pass share a batch.
enum class HeadPass { text, span, classes };

struct SequenceResult {
  TextResult text;            // of HeadPass::text
  std::vector<float> scores;  // of HeadPass::span [tokens, 2], of HeadPass::classes one a class
  bool failed = false;        // it could not be computed, and the log says why
};

struct EngineResult {
  enum class Kind { computed, expired, failed };

  Kind kind = Kind::computed;
  std::vector<SequenceResult> results;  // one a sequence, where computed
};

struct EngineRequest {
  HeadPass pass = HeadPass::text;
  int top = 0;  // candidates of each mask of HeadPass::text
  std::vector<TextSequence> sequences;
  ServeTime arrived;
  ServeTime deadline;                      // nothing that waits longer is computed
  std::function<void(EngineResult)> done;  // called once, on the engine's thread; throws nothing
};

// Computes sequences of one pass, whose requests want so many candidates (`tops`), and gives each result once
// it is there, in any order.
using GiveResult = std::function<void(std::size_t sequence, SequenceResult result)>;
using ComputePass = std::function<void(HeadPass pass, std::span<const TextSequence> sequences,
                                       std::span<const int> tops, const GiveResult& give)>;

class BatchEngine {
 public:
  // `compute` is called on the engine's thread alone. The meter outlives the engine.
  BatchEngine(ComputePass compute, const BatchRules& rules, ServeMeter& meter);
  ~BatchEngine();  // after the batch that is being computed; nobody asks for what waits any more

  bool is_computing() const;

  // A place for the first sequence of a request. Nothing where the queue is full.
  std::optional<QueueRoom> reserve();
  // The number that the request has. Nothing where the queue has no room for the other sequences, too; then
  // nothing of it is taken.
  std::optional<std::uint64_t> submit(EngineRequest request, QueueRoom room);
  // Nobody asks for it any more: what waits of it is not computed, and it need not be told its end.
  void cancel(std::uint64_t number);
  // How many sequences a request may have, so that others find room beside it.
  std::size_t most_of_request() const { return std::max<std::size_t>(1, rules_.max_waiting / 4); }
  std::size_t waiting() const;  // sequences, and requests whose texts are not tokens yet
  // How long what waits will take, as fast as the batches before were computed: 1 to 60 s. A text that is not
  // tokens yet counts as a sequence of the batch before.
  std::chrono::seconds retry_after() const;

 private:
  struct Running {
    std::uint64_t number = 0;
    EngineRequest request;
    std::size_t open = 0;  // sequences without a result
    EngineResult result;
  };
  struct Waiting {
    std::shared_ptr<Running> of;
    std::size_t index = 0;  // of its sequences
  };
  using Ended = std::vector<std::shared_ptr<Running>>;

  void run();
  std::vector<Waiting> take(const std::vector<std::uint64_t>& numbers);
  Ended expire(const std::vector<Waiting>& expired);
  class Batch;
  void add_computed(std::size_t sequences, std::size_t tokens, std::chrono::nanoseconds took);
  static void tell(const std::shared_ptr<Running>& ended);

  ComputePass compute_;
  const BatchRules rules_;
  ServeMeter& meter_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  BatchQueue queue_;
  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t next_number_ = 0;
  std::size_t reserved_ = 0;
  ComputeSpeed speed_;
  std::int64_t usual_tokens_ = 0;  // of a sequence of the batch before
  bool closing_ = false;
  bool computing_ = false;

  std::thread thread_;
};

}  // namespace podium
