#include "worker/tasks/squad/span_head.h"

#include "worker/nn/families/bert.h"
#include "worker/nn/linear.h"
#include "worker/nn/pass_context.h"
#include "worker/ops/distillation.h"
#include "worker/ops/position_cross_entropy.h"

namespace podium {
namespace {

constexpr std::int64_t kScores = 2;

class SpanHead final : public Head {
 public:
  SpanHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
           const std::optional<DistillSpec>& distill)
      : distill_(distill), outputs_(store, tensor, {{kBertSpan, kScores}}, spec.hidden) {}

  ConstTensorView run(const PassContext& pass, ConstTensorView x, TensorView dx) override {
    const ops::SequenceRows rows{pass.batch.sequences, pass.batch.length, pass.inputs.valid_lengths(),
                                 pass.inputs.begins()};
    const TensorView scores = pass.save_all(kScores);
    outputs_.forward(pass.context, x, scores);
    if (dx.address == nullptr) {
      for (const std::size_t term : {kFirstTerm, kLastTerm})
        ops::position_cross_entropy(pass.context, scores, column_of(term), rows,
                                    pass.inputs.targets(term).labels, pass.sums + term);
      return scores;
    }
    const ArenaScope scope(pass.workspace);
    const TensorView kept = distill_ ? pass.temporary_all(kScores) : TensorView{};
    if (distill_) pass.context.memory.copy(kept.address, scores.address, scores.bytes());
    for (const std::size_t term : {kFirstTerm, kLastTerm})
      ops::position_cross_entropy_backward(pass.context, scores, column_of(term), rows,
                                           pass.inputs.targets(term).labels, pass.inputs.loss_scale(term),
                                           pass.sums + term);
    if (distill_)
      for (const std::size_t term : {kTaughtFirstTerm, kTaughtLastTerm})
        ops::distillation(pass.context, kept, column_of(term), rows, pass.inputs.targets(term).values,
                          static_cast<float>(distill_->temperature), pass.inputs.loss_scale(term), scores,
                          pass.sums + term);
    outputs_.backward_weight(pass.context, x, scores);
    outputs_.backward_input(pass.context, scores, dx, {.accumulate = true});
    return {};
  }

 private:
  static std::int64_t column_of(std::size_t term) { return static_cast<std::int64_t>(term) % kScores; }

  std::optional<DistillSpec> distill_;
  Linear outputs_;
};

// One of each row's two scores goes to each term.
void take_span_scores(std::span<const float> predictions, MicroBatch& batch) {
  for (const std::size_t term : {kTaughtFirstTerm, kTaughtLastTerm}) {
    std::vector<float>& values = batch.targets[term].values;
    values.clear();
    for (std::size_t i = term - kTaughtFirstTerm; i < predictions.size(); i += kScores)
      values.push_back(predictions[i]);
  }
}

}  // namespace

HeadPlan span_head(const std::optional<DistillSpec>& distill) {
  HeadPlan plan{{{"first"}, {"last"}},
                [distill](ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                          ParameterId) { return std::make_unique<SpanHead>(store, tensor, spec, distill); },
                [](const ModelSpec& spec, const MicroBatch& batch) {
                  double tokens = 0;
                  for (const std::int32_t length : batch.valid_lengths) tokens += length;
                  return tokens * 2 * spec.hidden * kScores;
                }};
  if (!distill) return plan;
  plan.terms.insert(plan.terms.end(), {{"taught first"}, {"taught last"}});
  plan.take_scores = take_span_scores;
  return plan;
}

}  // namespace podium
