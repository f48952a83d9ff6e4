#include "worker/tasks/classify/classify_head.h"

#include "worker/nn/sequence_head.h"

namespace podium {
namespace {

class ClassifyHead final : public Head {
 public:
  ClassifyHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, int classes)
      : sequences_(store, tensor, spec, "classifier", classes, kClassTerm) {}

  ConstTensorView run(const PassContext& pass, ConstTensorView x, TensorView dx) override {
    return sequences_.run(pass, x, {pass.inputs.loss_scale(kClassTerm), dx});
  }

 private:
  SequenceHead sequences_;
};

}  // namespace

HeadPlan classify_head(int classes) {
  return {{{"class"}},
          [classes](ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId) {
            return std::make_unique<ClassifyHead>(store, tensor, spec, classes);
          },
          [classes](const ModelSpec& spec, const MicroBatch& batch) {
            const double hidden = spec.hidden;
            return batch.sequences * 2 * hidden * (hidden + classes);
          }};
}

}  // namespace podium
