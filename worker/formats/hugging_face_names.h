// The table of the tensors that a Hugging Face model of a given shape has, and of our parameters in each.
// Only this table knows them: import, export and the check for unknown tensors read it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/spec.h"
#include "worker/formats/full_tensors.h"
#include "worker/nn/families/family.h"

namespace podium {

struct HuggingFaceEntry {
  std::string name;                     // with its prefix
  std::vector<std::int64_t> shape;      // as the folder keeps it
  std::vector<std::string> parameters;  // ours: one, or query, key and value side by side
  bool transposed = false;              // kept [in, out]; ours are [out, in]
  bool optional = false;                // a head, which models saved without it lack
  bool by_token = false;                // the first axis numbers tokens
  bool by_label = false;                // it numbers the head's labels

  std::vector<std::int64_t> parameter_shape() const;  // of each of `parameters`
};

// With this head, if the family has a class of transformers for it; else with that of pre-training.
std::vector<HuggingFaceEntry> hugging_face_entries(const ModelSpec& spec, const ModelHead& head = {});

// `values` as the folder keeps them ↔ one tensor for each of the entry's parameters.
std::vector<FullTensor> split_entry(const HuggingFaceEntry& entry, std::vector<float> values);
FullTensor join_entry(const HuggingFaceEntry& entry, std::vector<FullTensor> parts);

// The name under which the table has what a file calls `name`: prefix added where it is absent,
// older names replaced. Nothing for buffers, which every such model may carry and none needs.
std::optional<std::string> canonical_name(ModelFamily family, std::string_view name);

// Whether a tensor of this canonical name is of a head that such models may carry.
bool is_of_head(const ModelSpec& spec, std::string_view name);

}  // namespace podium
