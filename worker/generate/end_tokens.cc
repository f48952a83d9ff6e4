#include "worker/generate/end_tokens.h"

#include <nlohmann/json.hpp>

#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/tokenizer/token_ids.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Nothing where the file is not there or names none.
std::vector<std::int32_t> named_by(const fs::path& file) {
  if (!fs::exists(file)) return {};
  const std::string origin = file.string();
  const json content = parse_json(read_input(file), origin);
  if (!content.is_object()) throw BadData(origin + " is no JSON object");
  const json named = content.value("eos_token_id", json());
  if (named.is_null()) return {};
  std::vector<std::int32_t> ids;
  for (const json& id : named.is_array() ? named : json::array({named})) {
    if (!id.is_number_integer()) throw BadData(origin + ": eos_token_id is neither an id nor a list of ids");
    if (id >= 0 && id < kMostTokens) ids.push_back(id.get<std::int32_t>());  // a negative one stands for none
  }
  return ids;
}

}  // namespace

std::vector<std::int32_t> end_tokens(const fs::path& model, const BpeTokenizer& tokenizer) {
  std::vector<std::int32_t> ids = named_by(model / "generation_config.json");
  if (ids.empty()) ids = named_by(model / "config.json");
  if (tokenizer.end_of_text() >= 0) ids.push_back(tokenizer.end_of_text());
  return ids;
}

}  // namespace podium
