// BERT (Devlin et al., 2018): its layers' shape, its names, and its pre-training head, of two parts, each
// with a term of the loss:
//
//   masked language model: decode(LayerNorm(gelu(dense(x[masked])))) with the word embeddings as decoder
//   next sentence:         sequence_head.h
#include "worker/nn/families/bert.h"

#include <algorithm>
#include <iterator>

#include "common/model/family.h"
#include "common/model/flops.h"
#include "worker/nn/families/family.h"
#include "worker/nn/norm.h"
#include "worker/nn/pretraining_head.h"
#include "worker/nn/sequence_head.h"
#include "worker/nn/token_decoder.h"
#include "worker/ops/rows.h"

namespace podium {
namespace {

class MaskedLanguageHead {
 public:
  MaskedLanguageHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                     ParameterId word)
      : hidden_(spec.hidden),
        transform_(store, tensor, {{kBertTransform, hidden_}}, hidden_),
        norm_(store, kBertTransformNorm, spec, false),
        decoder_(store, word, kBertDecoderBias) {}

  // encoded and gradient.dx [all rows, hidden].
  void run(const PassContext& pass, ConstTensorView encoded, const HeadGradient& gradient) {
    for (const ScoredRows& block : pass.inputs.blocks(kLanguageTerm))
      run_block(pass, encoded, block, gradient);
  }

 private:
  void run_block(const PassContext& pass, ConstTensorView encoded, const ScoredRows& block,
                 const HeadGradient& gradient) {
    const ArenaScope scope(pass.workspace);
    const auto rows = static_cast<std::int64_t>(block.labels.size());
    const auto activation = [&] { return pass.workspace.allocate(pass.compute, Shape{rows, hidden_}); };
    const TensorView picked = activation(), gelu_saved = activation(), gelu_y = activation();
    const TensorView normal = activation(), d = gradient.wanted() ? activation() : TensorView{};
    const TensorView statistics = norm_.allocate_statistics(pass.workspace, rows);
    ops::gather_rows(pass.context, encoded, block.rows, picked);
    transform_.forward(pass.context, picked, gelu_saved);
    ops::gelu_forward(pass.context, gelu_saved, gelu_y);
    norm_.forward(pass.context, gelu_y, normal, statistics);
    decoder_.run(pass, normal, block.labels, {gradient.scale, d}, pass.sums + kLanguageTerm);
    if (!gradient.wanted()) return;

    norm_.backward(pass.context, d, gelu_y, statistics, d);
    ops::gelu_backward(pass.context, {gelu_saved}, d);
    transform_.backward_weight(pass.context, picked, d);
    const TensorView dpicked = normal;  // which is not needed any more
    transform_.backward_input(pass.context, d, dpicked);
    ops::scatter_add_rows(pass.context, dpicked, block.rows, gradient.dx);
  }

  std::int64_t hidden_;
  Linear transform_;
  Norm norm_;
  TokenDecoder decoder_;
};

class BertHead final : public Head {
 public:
  BertHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId word)
      : masked_(store, tensor, spec, word),
        next_sentence_(store, tensor, spec,
                       {.classifier = kBertNextSentence,
                        .classes = traits_of(spec.family).sentence_classes,
                        .term = kNextSentenceTerm}) {}

  ConstTensorView run(const PassContext& pass, ConstTensorView encoded, TensorView dencoded) override {
    masked_.run(pass, encoded, {pass.inputs.loss_scale(kLanguageTerm), dencoded});
    next_sentence_.run(pass, encoded, {pass.inputs.loss_scale(kNextSentenceTerm), dencoded});
    return {};
  }

 private:
  MaskedLanguageHead masked_;
  SequenceHead next_sentence_;
};

HeadPlan bert_head() {
  return {{{"language", true}, {"next_sentence"}},
          [](ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId word) {
            return std::make_unique<BertHead>(store, tensor, spec, word);
          },
          [](const ModelSpec& spec, const MicroBatch& batch) {
            const auto labels = [&](std::size_t term) {
              return static_cast<double>(batch.targets[term].labels.size());
            };
            return language_head_flops(spec, labels(kLanguageTerm)) +
                   labels(kNextSentenceTerm) * sentence_head_flops(spec);
          }};
}

std::string weight(std::string_view name) { return std::string(name) + ".weight"; }
std::string bias(std::string_view name) { return std::string(name) + ".bias"; }

std::vector<HeadTensor> bert_token_tensors(const ModelSpec& spec) {
  const std::int64_t hidden = spec.hidden;
  return {{kBertDecoderBias, {spec.vocab}, true},
          {weight(kBertTransform), {hidden, hidden}},
          {bias(kBertTransform), {hidden}},
          {weight(kBertTransformNorm), {hidden}},
          {bias(kBertTransformNorm), {hidden}}};
}

std::vector<HeadTensor> bert_head_tensors(const ModelSpec& spec) {
  const std::int64_t hidden = spec.hidden, classes = traits_of(spec.family).sentence_classes;
  std::vector<HeadTensor> tensors{{weight(kBertPooler), {hidden, hidden}}, {bias(kBertPooler), {hidden}}};
  std::ranges::move(bert_token_tensors(spec), std::back_inserter(tensors));
  tensors.push_back({weight(kBertNextSentence), {classes, hidden}});
  tensors.push_back({bias(kBertNextSentence), {classes}});
  return tensors;
}

std::vector<HeadTensor> bert_span_tensors(const ModelSpec& spec, const ModelHead&) {
  return {{weight(kBertSpan), {2, spec.hidden}}, {bias(kBertSpan), {2}}};
}

std::vector<HeadTensor> bert_classifier_tensors(const ModelSpec& spec, const ModelHead& head) {
  const std::int64_t hidden = spec.hidden, outputs = std::max<std::int64_t>(std::ssize(head.labels), 1);
  return {{weight(kBertPooler), {hidden, hidden}},
          {bias(kBertPooler), {hidden}},
          {.name = weight(kBertClassifier), .shape = {outputs, hidden}, .by_label = true},
          {.name = bias(kBertClassifier), .shape = {outputs}, .by_label = true}};
}

constexpr TokenHead kBertTokenHead{"BertForMaskedLM", bert_token_tensors};

constexpr TaskHead kBertTaskHeads[] = {
    {TrainingTask::squad, "BertForQuestionAnswering", bert_span_tensors},
    {TrainingTask::classify, "BertForSequenceClassification", bert_classifier_tensors, true}};
constexpr std::string_view kBertBare[] = {"embeddings.", "encoder.", "pooler."};
constexpr std::string_view kBertOtherBeginnings[] = {"classifier.", "qa_outputs."};
constexpr std::string_view kBertOtherEndings[] = {"embeddings.position_ids"};
constexpr std::pair<std::string_view, std::string_view> kBertOlderEndings[] = {
    {"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}};

}  // namespace

constinit const Family kBertFamily{
    .family = ModelFamily::bert,
    .names =
        {
            .word = "bert.embeddings.word_embeddings.weight",
            .position = "bert.embeddings.position_embeddings.weight",
            .type = "bert.embeddings.token_type_embeddings.weight",
            .embedding_norm = "bert.embeddings.LayerNorm",
            .layers = "bert.encoder.layer.",
            .first_norm = "",
            .query = "attention.self.query",
            .key = "attention.self.key",
            .value = "attention.self.value",
            .attention_output = "attention.output.dense",
            .middle_norm = "attention.output.LayerNorm",
            .expand = "intermediate.dense",
            .contract = "output.dense",
            .last_norm = "output.LayerNorm",
            .pooler = kBertPooler,
        },
    .norm = NormKind::layer,
    .norm_epsilon = 1e-12,
    .biases = true,
    .causal = false,
    .gelu = ops::GeluKind::erf,
    .scaled_residuals = false,
    .pretraining_head = bert_head,
    .head_tensors = bert_head_tensors,
    .token_head = &kBertTokenHead,
    .task_heads = kBertTaskHeads,
    .hugging_face =
        {
            .model_type = "bert",
            .architecture = "BertForPreTraining",
            .layers = "num_hidden_layers",
            .hidden = "hidden_size",
            .heads = "num_attention_heads",
            .intermediate = "intermediate_size",
            .vocab = "vocab_size",
            .max_positions = "max_position_embeddings",
            .dropout = "hidden_dropout_prob",
            .attention_dropout = "attention_probs_dropout_prob",
            .norm_epsilon = "layer_norm_eps",
            .required = R"({"hidden_act": "gelu", "type_vocab_size": 2,
                                     "position_embedding_type": "absolute", "tie_word_embeddings": true,
                                     "is_decoder": false})",
            .written = R"({"hidden_act": "gelu", "type_vocab_size": 2, "pad_token_id": 0})",
            .prefix = "bert.",
            .bare = kBertBare,
            .other_beginnings = kBertOtherBeginnings,
            .other_endings = kBertOtherEndings,
            .older_endings = kBertOlderEndings,
            .tied = "cls.predictions.decoder.weight",
            .twin = "cls.predictions.decoder.bias",
            .twin_of = kBertDecoderBias,
            .head_may_lack = true,
        },
};

}  // namespace podium
