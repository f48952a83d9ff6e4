#include "worker/tasks/classify/classify_head.h"

#include <algorithm>

#include "worker/nn/families/bert.h"
#include "worker/nn/sequence_head.h"

namespace podium {
namespace {

class ClassifyHead final : public Head {
 public:
  ClassifyHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
               const SequenceHeadOptions& options)
      : sequences_(store, tensor, spec, options) {}

  ConstTensorView run(const PassContext& pass, ConstTensorView x, TensorView dx) override {
    return sequences_.run(pass, x, {pass.inputs.loss_scale(kClassTerm), dx});
  }

 private:
  SequenceHead sequences_;
};

}  // namespace

HeadPlan classify_head(int classes, double dropout, const std::vector<float>& class_weights,
                       const std::optional<DistillSpec>& distill) {
  SequenceHeadOptions options{.classifier = kBertClassifier,
                              .classes = classes,
                              .term = kClassTerm,
                              .dropout = dropout,
                              .class_weights = class_weights};
  if (distill) {
    options.teacher_term = kTaughtClassTerm;
    options.temperature = distill->temperature;
  }
  HeadPlan plan{
      {{"class"}},
      [options](ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId) {
        return std::make_unique<ClassifyHead>(store, tensor, spec, options);
      },
      [classes](const ModelSpec& spec, const MicroBatch& batch) {
        const double hidden = spec.hidden;
        return batch.sequences * 2 * hidden * (hidden + std::max(classes, 1));
      }};
  if (!distill) return plan;
  plan.terms.push_back({"taught class"});
  plan.take_scores = [](std::span<const float> predictions, MicroBatch& batch) {
    batch.targets[kTaughtClassTerm].values.assign(predictions.begin(), predictions.end());
  };
  return plan;
}

}  // namespace podium
