#include "worker/nn/pretraining_head.h"

#include "common/model/flops.h"
#include "worker/nn/bert_head.h"
#include "worker/nn/gpt_head.h"

namespace podium {
namespace {

template <class MadeHead>
std::unique_ptr<Head> make(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                           ParameterId word) {
  return std::make_unique<MadeHead>(store, tensor, spec, word);
}

double language_flops(const ModelSpec& spec, const MicroBatch& batch) {
  return language_head_flops(spec, static_cast<double>(batch.targets[kLanguageTerm].labels.size()));
}

double bert_flops(const ModelSpec& spec, const MicroBatch& batch) {
  const auto sentences = static_cast<double>(batch.targets[kNextSentenceTerm].labels.size());
  return language_flops(spec, batch) + sentences * sentence_head_flops(spec);
}

}  // namespace

HeadPlan pretraining_head(ModelFamily family) {
  if (family == ModelFamily::gpt) return {{{"language", true}}, make<GptHead>, language_flops};
  return {{{"language", true}, {"next_sentence"}}, make<BertHead>, bert_flops};
}

}  // namespace podium
