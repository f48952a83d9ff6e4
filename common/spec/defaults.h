// Fills in what a spec leaves out: JobSpec's own defaults, published model shapes, and the few values that
// follow from others. Works on JSON, before a JobSpec can be made, and leaves null (a refused value) alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace podium {

struct ModelPreset {
  std::string_view name;
  std::string_view family;
  int layers;
  int hidden;
  int heads;
  int vocab;  // 0: the tokenizer's
};

// Null where there is none of that name.
const ModelPreset* find_preset(std::string_view name);

nlohmann::json with_defaults(const nlohmann::json& document);

}  // namespace podium
