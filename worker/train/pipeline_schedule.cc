#include "worker/train/pipeline_schedule.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium {
namespace {

struct Work {
  int chunk = 0;
  int micro_batch = 0;
};

// Micro-batches go through a stage in groups as large as there are stages: the whole group through one chunk,
// then through the next, which the group's first micro-batch has reached by then. The last group may be
// smaller.
std::vector<Work> forward_order(const PipelineShape& shape, int micro_batches) {
  std::vector<Work> order;
  for (int group = 0; group < micro_batches; group += shape.stages)
    for (int chunk = 0; chunk < shape.chunks; ++chunk)
      for (int i = group; i < std::min(micro_batches, group + shape.stages); ++i) order.push_back({chunk, i});
  return order;
}

std::vector<Work> backward_order(const PipelineShape& shape, int micro_batches) {
  std::vector<Work> order = forward_order(shape, micro_batches);
  for (Work& work : order) work.chunk = shape.chunks - 1 - work.chunk;
  return order;
}

// Forwards a stage runs before its first backward: as many as keep it busy until that one's gradient arrives.
std::size_t warmup(const PipelineShape& shape, int stage) {
  const int behind = shape.stages - stage - 1;
  return static_cast<std::size_t>(shape.chunks == 1 ? behind
                                                    : 2 * behind + (shape.chunks - 1) * shape.stages);
}

// Hands out the lowest free slot.
class Slots {
 public:
  int take(const Work& work) {
    const auto free = std::ranges::find_if(held_, [](const Work& held) { return held.chunk < 0; });
    const auto slot = free - held_.begin();
    if (free == held_.end())
      held_.push_back(work);
    else
      *free = work;
    return static_cast<int>(slot);
  }

  int give_back(const Work& work) {
    const auto held = std::ranges::find_if(held_, [&](const Work& other) {
      return other.chunk == work.chunk && other.micro_batch == work.micro_batch;
    });
    PODIUM_CHECK(held != held_.end(), "backward follows forward");
    held->chunk = -1;
    return static_cast<int>(held - held_.begin());
  }

 private:
  std::vector<Work> held_;  // by slot; chunk -1: free
};

}  // namespace

std::vector<PipelineOp> training_schedule(const PipelineShape& shape, int stage, int micro_batches) {
  PODIUM_CHECK(stage >= 0 && stage < shape.stages, "a stage of the pipeline");
  PODIUM_CHECK(shape.chunks == 1 || (shape.stages > 1 && micro_batches % shape.stages == 0),
               "chunks interleave between stages, over whole groups of micro-batches");
  const std::vector<Work> forwards = forward_order(shape, micro_batches);
  const std::vector<Work> backwards = backward_order(shape, micro_batches);
  const std::size_t ahead = std::min(warmup(shape, stage), forwards.size());

  Slots slots;
  std::vector<PipelineOp> ops;
  const auto forward = [&](const Work& work) {
    ops.push_back({Direction::forward, work.chunk, work.micro_batch, slots.take(work)});
  };
  for (std::size_t i = 0; i < ahead; ++i) forward(forwards[i]);
  for (std::size_t i = 0; i < backwards.size(); ++i) {
    if (ahead + i < forwards.size()) forward(forwards[ahead + i]);
    const Work& work = backwards[i];
    ops.push_back({Direction::backward, work.chunk, work.micro_batch, slots.give_back(work)});
  }
  return ops;
}

std::vector<PipelineOp> evaluation_schedule(const PipelineShape& shape, int micro_batches) {
  std::vector<PipelineOp> ops;
  for (const Work& work : forward_order(shape, micro_batches))
    ops.push_back({Direction::forward, work.chunk, work.micro_batch, 0});
  return ops;
}

std::vector<PipelineMessage> messages_between(const PipelineShape& shape,
                                              const std::vector<PipelineOp>& schedule, int from, int to) {
  const int last_place = shape.stages * shape.chunks - 1;
  std::vector<PipelineMessage> messages;
  int taken = 0;
  for (const PipelineOp& op : schedule) {
    const int place = op.chunk * shape.stages + from;
    const int step = op.direction == Direction::forward ? 1 : -1;
    const auto is_at = [&](int other) {
      return other >= 0 && other <= last_place && other % shape.stages == to;
    };
    if (is_at(place - step)) ++taken;
    if (is_at(place + step))
      messages.push_back({op.direction, (place + step) / shape.stages, op.micro_batch, taken});
  }
  return messages;
}

bool is_model_begin(int stage, int chunk) { return stage == 0 && chunk == 0; }

bool is_model_end(const PipelineShape& shape, int stage, int chunk) {
  return stage == shape.stages - 1 && chunk == shape.chunks - 1;
}

}  // namespace podium
