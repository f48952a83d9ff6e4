// What checks and defaults of specs, FLOP counts and batches must know of a family of models, as data: one
// row for each family. How its layers compute is in worker/nn/families. No other code depends on a model's
// family.
#pragma once

#include <span>
#include <string_view>

#include "common/model/spec.h"

namespace podium {

struct FamilyTraits {
  ModelFamily family;
  std::span<const TrainingTask> tasks;  // what it can be trained for; the first is the default
  bool wordpiece;                       // reads WordPiece tokens, else byte pairs
  int max_positions;                    // unless the spec says otherwise
  double dropout;                       // likewise, and attention's
  double adamw_epsilon;                 // likewise
  // Predicts masked tokens of sequences that may be padded; else the next token at every position of full
  // ones.
  bool masked;
  // Positions turn queries and keys (model.rope_theta), whose heads may be fewer (model.key_value_heads);
  // else positions have a table of embeddings.
  bool rotary;
  bool gated;            // the feed-forward layer has a gate beside its linear part: three weights, not two
  bool head_transform;   // a dense layer [hidden, hidden] before tokens are scored
  int sentence_classes;  // of what pre-training predicts from a sequence's first token; 0: nothing

  std::string_view name() const { return to_string(family); }
  bool trains(std::string_view task) const;
};

std::span<const FamilyTraits> families();
const FamilyTraits& traits_of(ModelFamily family);
const FamilyTraits* find_family(std::string_view name);  // nullptr where there is none

}  // namespace podium
