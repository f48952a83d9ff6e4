// The Model of all families. Micro-batches go in slots (slot.h) through chunks of embeddings, layers and a
// task's head (model_chunk.h). On a device the work on a micro-batch is recorded and replayed; copies of
// weights and the inputs that other stages send are brought up to date before a replay.
#pragma once

#include <deque>
#include <map>

#include "worker/comm/parallel.h"
#include "worker/nn/activation_ranges.h"
#include "worker/nn/loss_totals.h"
#include "worker/nn/model.h"
#include "worker/nn/model_chunk.h"
#include "worker/nn/recomputation.h"
#include "worker/nn/slot.h"

namespace podium {

class TransformerModel final : public Model {
 public:
  TransformerModel(Context& context, const ModelSpec& spec, const ModelOptions& options, DType compute,
                   const ParallelGroups& groups);

  ParameterStore& parameters() override { return store_; }
  int chunks() const override { return static_cast<int>(chunks_.size()); }
  DType boundary_type() const override { return compute_; }
  Shape boundary_shape(const MicroBatch& batch) const override;
  ConstTensorView forward(int chunk_index, int slot_index, const Pass& pass, ConstTensorView input) override;
  ConstTensorView backward(int chunk_index, int slot_index, const Pass& pass, ConstTensorView doutput,
                           const GradientsReady& ready) override;
  void fetch_losses() override;
  LossSums take_losses() override;
  ActivationRanges* ranges() override { return ranges_ ? &*ranges_ : nullptr; }
  ModelMemory memory() const override;
  double training_flops(const MicroBatch& batch) const override;

 private:
  bool has_head() const { return chunks_.back().head != nullptr; }

  Slot& begin(int chunk_index, int slot_index, const Pass& pass);
  std::int64_t most_tokens_together() const;
  PassValues values_of(const Pass& pass, const RowLayout& rows) const;
  PassContext make_context(Slot& slot, const Pass& pass);
  void check_boundary(const ConstTensorView& x, const PassContext& pass) const;
  ConstTensorView placed(const PassContext& pass, ConstTensorView input);

  bool records() const;
  template <class Work>
  void run(Slot& slot, Recording& recording, const Work& work);

  void compute_forward(ModelChunk& chunk, const PassContext& pass, PassPlan& plan, ConstTensorView x);
  ConstTensorView run_head(Head& head, const PassContext& pass, TensorView gradient, ConstTensorView x);

  Context& context_;
  const ModelSpec spec_;
  const HeadPlan head_plan_;
  const DType compute_;
  const bool unpadded_, fp8_;
  const TensorGroup tensor_;
  ParameterStore store_;
  const Tensor rotary_table_;  // empty where positions do not turn queries and keys
  std::optional<ActivationRanges> ranges_;
  std::deque<ModelChunk> chunks_;
  std::map<int, Slot> slots_;
  Arena workspace_;
  Recomputation recomputation_;
  LossTotals loss_totals_;
};

}  // namespace podium
