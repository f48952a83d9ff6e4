// What tells a family of transformers from the others, as data. Layers, embeddings, heads and the conversion
// from and to Hugging Face's folders read it; none of them asks which family a model is of. Of
// inference, worker/infer computes BERT, worker/generate those that predict the next token. A family is a
// file in this folder, with its head, a row in family.cc and one in common/model/family.cc.
//
// Checkpoints keep parameters under these names: once given, they must never change.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/spec.h"
#include "worker/nn/head.h"
#include "worker/ops/gelu.h"

namespace podium {

// Hugging Face's names, but for parts that its checkpoints do not keep apart
// (HuggingFaceForm::query_key_value);
// "" where a family has no such part. Dense layers and norms have a ".weight", and a ".bias" but for RMSNorms
// and the dense layers of families without biases.
struct FamilyNames {
  std::string_view word, position, type;  // tables of embeddings
  std::string_view embedding_norm;
  std::string_view layers;  // what stands before a layer's number
  // Behind it. With norms in front of each branch there is a first one, else a last one
  // (transformer_layer.h).
  std::string_view first_norm, query, key, value, attention_output, middle_norm;
  std::string_view gate;  // of a gated feed-forward layer (FamilyTraits::gated)
  std::string_view expand, contract, last_norm;
  std::string_view pooler;  // the dense layer that heads of whole sequences begin with (sequence_head.h)
  // Of language_head.h.
  std::string_view head_norm;
  std::string_view decoder;  // its own weight, unless the word embeddings decode (ties_embeddings())
};

enum class NormKind { layer, rms };

// The head that a model has: that of its task, and the labels that its outputs stand for.
struct ModelHead {
  ModelHead() = default;
  ModelHead(TrainingTask of_task, std::vector<std::string> of_outputs = {})
      : task(of_task), labels(std::move(of_outputs)) {}
  // Of that of pre-training the part that predicts tokens (Family::token_head).
  static ModelHead of_tokens_alone() {
    ModelHead head;
    head.tokens_alone = true;
    return head;
  }

  TrainingTask task = TrainingTask::pretrain;
  std::vector<std::string> labels;  // classes by number; none: the outputs have no names, or are one value

  bool tokens_alone = false;

  // Of a classifier, where it is known: whether it was trained on pairs of sentences, and its dropout.
  std::optional<bool> pairs = {};
  std::optional<double> dropout = {};

  bool operator==(const ModelHead&) const = default;
};

// A tensor of a head.
struct HeadTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  bool by_token = false;  // the first axis numbers tokens
  bool by_label = false;  // it numbers labels
};

// A head that a family is not pre-trained with, and the class of transformers that has it.
struct TaskHead {
  TrainingTask task;
  std::string_view architecture;
  std::vector<HeadTensor> (*tensors)(const ModelSpec& spec, const ModelHead& head);
  bool has_labels = false;
};

// What predicts tokens in a pre-training head that does more, and the class of transformers with that alone.
struct TokenHead {
  std::string_view architecture;
  std::vector<HeadTensor> (*tensors)(const ModelSpec& spec);
};

// How Hugging Face's transformers keeps such a model.
struct HuggingFaceForm {
  std::string_view model_type, architecture;

  // The keys of config.json. `embedding_dropout`: "" where it is the key `dropout`, too. "" also where a
  // family has no such key; a `dropout` without a key is 0.
  std::string_view layers, hidden, heads, head_size, key_value_heads, intermediate, vocab, max_positions;
  std::string_view rope_theta, tie_embeddings;
  std::string_view dropout, attention_dropout, embedding_dropout, norm_epsilon;
  bool intermediate_may_lack = false;  // it is then 4 x hidden
  std::string_view required;           // JSON; a file that has one of these keys must have this value
  std::string_view written;            // JSON; what our files have beside the keys above
  int end_of_text = -1;                // a token that models with a vocabulary of its size begin and end with

  // The names of tensors. Files of the bare model lack `prefix`: their names begin with one of `bare`.
  std::string_view prefix;
  std::span<const std::string_view> bare;
  // What such models may carry and none needs, buffers and heads of other tasks: names that begin or end so.
  std::span<const std::string_view> other_beginnings, other_endings;
  std::span<const std::pair<std::string_view, std::string_view>> older_endings;  // and what they are now
  std::string_view tied;           // a copy of the word embeddings that some files hold as the head's weight
  std::string_view twin, twin_of;  // newer files hold `twin_of` twice, some under this name alone
  bool transposed = false;         // dense layers within the layers are kept [in, out]; ours are [out, in]
  std::string_view query_key_value;  // the three side by side, [in, 3 x out]; "": kept apart
  bool head_may_lack = false;
};

struct Family {
  ModelFamily family;
  FamilyNames names;
  NormKind norm;
  double norm_epsilon;
  bool biases;  // of the dense layers within the layers
  bool causal;
  ops::GeluKind gelu;
  // The weights whose products are added to the residual stream, 2 a layer, begin so much smaller that their
  // sum has the variance of one.
  bool scaled_residuals;
  HeadPlan (*pretraining_head)();
  std::vector<HeadTensor> (*head_tensors)(const ModelSpec& spec);
  const TokenHead* token_head = nullptr;  // nullptr: the pre-training head does nothing else
  std::span<const TaskHead> task_heads;
  HuggingFaceForm hugging_face;

  // Parameter::deviation of such a weight.
  double residual_deviation(const ModelSpec& spec) const;
  const TaskHead* find_task_head(TrainingTask task) const;  // nullptr: the head is that of pre-training
};

const Family& family_of(ModelFamily family);
inline const Family& family_of(const ModelSpec& spec) { return family_of(spec.family); }
// Whether the word embeddings also decode: always, or where the spec says so.
bool ties_embeddings(const ModelSpec& spec);
// What the family calls this part of layer `layer`, say "transformer.h.3.ln_1".
std::string name_in_layer(const ModelSpec& spec, int layer, std::string_view part);
inline std::string name_in_layer(const ModelSpec& spec, int layer, std::string_view FamilyNames::*part) {
  return name_in_layer(spec, layer, family_of(spec).names.*part);
}

const Family* find_hugging_face_family(std::string_view model_type);  // nullptr where there is none

// Of the families' files.
extern const Family kBertFamily;
extern const Family kGptFamily;
extern const Family kLlamaFamily;

}  // namespace podium
