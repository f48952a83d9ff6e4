#include "worker/nn/language_head.h"

#include "common/model/flops.h"
#include "worker/nn/norm.h"
#include "worker/nn/pretraining_head.h"
#include "worker/nn/token_decoder.h"
#include "worker/ops/rows.h"

namespace podium {
namespace {

std::string head_norm(const ModelSpec& spec) { return std::string(family_of(spec).names.head_norm); }
// "" where the word embeddings decode.
std::string decoder_weight(const ModelSpec& spec) {
  return ties_embeddings(spec) ? "" : std::string(family_of(spec).names.decoder) + ".weight";
}

class LanguageHead final : public Head {
 public:
  LanguageHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId word)
      : hidden_(spec.hidden),
        norm_(store, head_norm(spec), spec, false),
        decoder_(store, decoder_of(store, tensor, spec, word), "") {}

  ConstTensorView run(const PassContext& pass, ConstTensorView x, TensorView dx) override {
    for (const ScoredRows& block : pass.inputs.blocks(kLanguageTerm))
      run_block(pass, x, block, {pass.inputs.loss_scale(kLanguageTerm), dx});
    return {};
  }

 private:
  static ParameterId decoder_of(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                                ParameterId word) {
    if (decoder_weight(spec).empty()) return word;
    Parameter weight{.name = decoder_weight(spec), .shape = Shape{spec.vocab, spec.hidden}};
    tensor.cut(weight, 0);
    return store.add(std::move(weight));
  }

  void run_block(const PassContext& pass, ConstTensorView x, const ScoredRows& block,
                 const HeadGradient& gradient) {
    const ArenaScope scope(pass.workspace);
    const auto rows = static_cast<std::int64_t>(block.labels.size());
    const auto activation = [&] { return pass.workspace.allocate(pass.compute, Shape{rows, hidden_}); };
    const TensorView picked = activation(), normal = activation();
    const TensorView d = gradient.wanted() ? activation() : TensorView{};
    const TensorView statistics = norm_.allocate_statistics(pass.workspace, rows);
    ops::gather_rows(pass.context, x, block.rows, picked);
    norm_.forward(pass.context, picked, normal, statistics);
    decoder_.run(pass, normal, block.labels, {gradient.scale, d}, pass.sums + kLanguageTerm);
    if (!gradient.wanted()) return;
    norm_.backward(pass.context, d, picked, statistics, d);
    ops::scatter_add_rows(pass.context, d, block.rows, gradient.dx);
  }

  std::int64_t hidden_;
  Norm norm_;
  TokenDecoder decoder_;
};

}  // namespace

HeadPlan language_head() {
  return {{{"language", true}},
          [](ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId word) {
            return std::make_unique<LanguageHead>(store, tensor, spec, word);
          },
          [](const ModelSpec& spec, const MicroBatch& batch) {
            return language_head_flops(spec, static_cast<double>(batch.targets[kLanguageTerm].labels.size()));
          }};
}

std::vector<HeadTensor> language_head_tensors(const ModelSpec& spec) {
  std::vector<HeadTensor> tensors{{head_norm(spec) + ".weight", {spec.hidden}}};
  if (family_of(spec).norm == NormKind::layer) tensors.push_back({head_norm(spec) + ".bias", {spec.hidden}});
  if (!decoder_weight(spec).empty())
    tensors.push_back({decoder_weight(spec), {spec.vocab, spec.hidden}, true});
  return tensors;
}

}  // namespace podium
