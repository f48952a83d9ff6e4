// The activations of one micro-batch on its way through one chunk, from forward to backward. Where they lie
// in the slot's arena follows from the shape of the micro-batch, so the work on micro-batches of one shape
// can be recorded on a device and replayed.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "worker/nn/batch_inputs.h"
#include "worker/nn/embeddings.h"
#include "worker/nn/row_layout.h"
#include "worker/nn/transformer_layer.h"
#include "worker/tensor/recording.h"

namespace podium {

// What the host keeps of passes over micro-batches of one shape: what forward leaves to backward, and both
// recorded.
struct PassPlan {
  Embeddings::Saved embeddings;
  std::vector<TransformerLayer::Saved> layers;
  std::vector<ConstTensorView> layer_inputs;
  ConstTensorView output;  // of the layers; where the head took it, the predictions of that
  TensorView gradient;     // of the layers' output, then of their input

  std::int64_t passes = 0;  // so far
  Recording forward;
  std::vector<Recording> backward;  // of embeddings, of each layer
  std::int64_t last_use = 0;
};

class Slot {
 public:
  using Key = std::vector<std::int64_t>;

  explicit Slot(MemorySpace memory) : arena(memory.device) {
    if (!memory.on_host()) upload_.emplace(memory);
  }

  // Takes in a micro-batch, whose inputs come first in the arena. `key`: what else than their extents decides
  // on the work.
  void begin(const MicroBatch& batch, RowLayout layout, std::span<const LossTerm> terms,
             std::int64_t most_tokens_together, const PassValues& values, Key key) {
    arena.reset();
    rows.emplace(std::move(layout));
    inputs.emplace(batch, *rows, terms, most_tokens_together, values);
    if (upload_) inputs->upload(*upload_, arena);
    std::ranges::copy(inputs->extents(), std::back_inserter(key));
    choose_plan(key);
  }

  PassPlan& plan() { return *plan_; }

  Arena arena;
  std::optional<RowLayout> rows;
  std::optional<BatchInputs> inputs;

 private:
  static constexpr std::size_t kMostPlans = 32;  // batches without padding are of ever other shapes

  void choose_plan(const Key& key) {
    plan_ = &plans_[key];
    plan_->last_use = ++uses_;
    if (plans_.size() <= kMostPlans) return;
    const auto oldest =
        std::ranges::min_element(plans_, {}, [](const auto& entry) { return entry.second.last_use; });
    plans_.erase(oldest);
  }

  std::optional<UploadBuffer> upload_;  // where the memory is a device's
  std::map<Key, PassPlan> plans_;
  PassPlan* plan_ = nullptr;  // of the micro-batch in hand
  std::int64_t uses_ = 0;
};

}  // namespace podium
