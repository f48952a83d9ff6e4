#include "worker/tasks/squad/span_head.h"

#include "worker/nn/families/bert.h"
#include "worker/nn/linear.h"
#include "worker/nn/pass_context.h"
#include "worker/ops/position_cross_entropy.h"

namespace podium {
namespace {

constexpr std::int64_t kScores = 2;

class SpanHead final : public Head {
 public:
  SpanHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec)
      : outputs_(store, tensor, {{kBertSpan, kScores}}, spec.hidden) {}

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
    for (const std::size_t term : {kFirstTerm, kLastTerm})
      ops::position_cross_entropy_backward(pass.context, scores, column_of(term), rows,
                                           pass.inputs.targets(term).labels, pass.inputs.loss_scale(term),
                                           pass.sums + term);
    outputs_.backward_weight(pass.context, x, scores);
    outputs_.backward_input(pass.context, scores, dx, {.accumulate = true});
    return {};
  }

 private:
  static std::int64_t column_of(std::size_t term) { return static_cast<std::int64_t>(term); }

  Linear outputs_;
};

}  // namespace

HeadPlan span_head() {
  return {{{"first"}, {"last"}},
          [](ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId) {
            return std::make_unique<SpanHead>(store, tensor, spec);
          },
          [](const ModelSpec& spec, const MicroBatch& batch) {
            double tokens = 0;
            for (const std::int32_t length : batch.valid_lengths) tokens += length;
            return tokens * 2 * spec.hidden * kScores;
          }};
}

}  // namespace podium
