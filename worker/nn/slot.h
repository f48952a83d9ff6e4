// A slot keeps the activations of one micro-batch in one chunk from forward to backward. Their places in the
// slot's arena follow from the shape of the micro-batch, so a device can record the work on micro-batches of
// one shape and replay it.
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

// What the host keeps for micro-batches of one shape: what forward leaves to backward, and the recordings of
// both.
struct PassPlan {
  Embeddings::Saved embeddings;
  std::vector<TransformerLayer::Saved> layers;
  std::vector<ConstTensorView> layer_inputs;
  ConstTensorView output;  // of the layers; in a chunk with the head, its predictions
  TensorView gradient;     // of the layers' output; backward makes it that of their input

  std::int64_t passes = 0;  // so far
  Recording forward;
  std::vector<Recording> backward;  // of the embeddings and of each layer
  std::int64_t last_use = 0;
};

class Slot {
 public:
  using Key = std::vector<std::int64_t>;

  explicit Slot(MemorySpace memory) : arena(memory.device) {
    if (!memory.on_host()) upload_.emplace(memory);
  }

  // Takes in a micro-batch and places its inputs first in the arena. `key` holds what decides on the work
  // besides the inputs' extents.
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
  static constexpr std::size_t kMostPlans = 32;  // batches without padding have many shapes

  void choose_plan(const Key& key) {
    plan_ = &plans_[key];
    plan_->last_use = ++uses_;
    if (plans_.size() <= kMostPlans) return;
    const auto oldest =
        std::ranges::min_element(plans_, {}, [](const auto& entry) { return entry.second.last_use; });
    plans_.erase(oldest);
  }

  std::optional<UploadBuffer> upload_;  // only if the memory is a device's
  std::map<Key, PassPlan> plans_;
  PassPlan* plan_ = nullptr;  // of the micro-batch in hand
  std::int64_t uses_ = 0;
};

}  // namespace podium
