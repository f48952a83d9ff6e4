// Fills in what a spec leaves out: JobSpec's own defaults, published model shapes, and the few values that
// follow from others. Works on JSON, before a JobSpec can be made, and leaves null (a refused value) alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace podium {

struct ModelPreset {
  std::string_view name;
  std::string_view family;
  int layers;
  int hidden;
  int heads;
  int vocab;  // 0: the tokenizer's
  // 0: what the others and the family imply.
  int intermediate = 0;
  int key_value_heads = 0;
  int max_positions = 0;
  double rope_theta = 0;
};

// "bert-tiny, bert-mini, …", all of the family's.
std::string preset_names(std::string_view family);

// Null where there is none of that name.
const ModelPreset* find_preset(std::string_view name);

nlohmann::json with_defaults(const nlohmann::json& document);

}  // namespace podium
