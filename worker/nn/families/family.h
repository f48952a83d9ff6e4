// What tells a family of transformers from the others, as data. Layers and embeddings read it; none of
// them asks which family a model is of. A family is a file in this folder, with its head, and a row in
// common/model/family.cc.
//
// Names, once given, are those of checkpoints: they must never change.
#pragma once

#include <string>
#include <string_view>

#include "common/model/spec.h"
#include "worker/nn/head.h"
#include "worker/ops/gelu.h"

namespace podium {

// As Hugging Face's checkpoints call them; "" where a family has no such part. Dense layers and norms have a
// ".weight" and a ".bias" each.
struct FamilyNames {
  std::string_view word, position, type;  // tables of embeddings
  std::string_view embedding_norm;
  std::string_view layers;  // what stands before a layer's number
  // Behind it. With norms in front of each branch there is a first one, else a last one
  // (transformer_layer.h).
  std::string_view first_norm, query, key, value, attention_output, middle_norm, expand, contract, last_norm;
};

struct Family {
  ModelFamily family;
  FamilyNames names;
  double norm_epsilon;
  bool causal;
  ops::GeluKind gelu;
  // The weights whose products are added to the residual stream, 2 a layer, begin so much smaller that their
  // sum has the variance of one.
  bool scaled_residuals;
  HeadPlan (*pretraining_head)();

  // Parameter::deviation of such a weight.
  double residual_deviation(const ModelSpec& spec) const;
};

const Family& family_of(ModelFamily family);
inline const Family& family_of(const ModelSpec& spec) { return family_of(spec.family); }
// What the family calls this part of layer `layer`, say "transformer.h.3.ln_1".
std::string name_in_layer(const ModelSpec& spec, int layer, std::string_view FamilyNames::*part);

// Of the families' files.
extern const Family kBertFamily;
extern const Family kGptFamily;

}  // namespace podium
