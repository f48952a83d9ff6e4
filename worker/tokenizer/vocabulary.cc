#include "worker/tokenizer/vocabulary.h"

#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/input/text_files.h"
#include "worker/input/utf8.h"

namespace podium {

Vocabulary::Vocabulary(std::vector<std::string> tokens, const std::string& origin, const SpecialNames& names,
                       Needs needs)
    : tokens_(std::move(tokens)) {
  if (tokens_.empty()) throw BadData(origin + ": the vocabulary is empty");
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const auto refuse = [&](const std::string& why) {
      throw BadData(origin + ":" + std::to_string(i + 1) + ": " + why);
    };
    if (const std::size_t bad = find_invalid_utf8(tokens_[i]); bad != std::string::npos)
      refuse("byte " + std::to_string(bad + 1) + " of the line is not UTF-8");
    if (!ids_.emplace(tokens_[i], static_cast<std::int32_t>(i)).second)
      refuse("the token \"" + tokens_[i] + "\" appears a second time");
  }
  const auto special = [&](const std::string& name) {
    const auto id = find(name);
    if (!id && (needs == Needs::all_special || name == names.unknown))
      throw BadData(origin + ": the vocabulary lacks the token " + name);
    return id.value_or(-1);
  };
  special_ = {special(names.pad), special(names.unknown), special(names.classify), special(names.separator),
              special(names.mask)};
}

Vocabulary Vocabulary::load(const std::filesystem::path& path, const SpecialNames& names) {
  std::vector<std::string> tokens;
  for_each_line_in(read_input(path), [&](std::string_view line) { tokens.emplace_back(line); });
  return Vocabulary(std::move(tokens), path.string(), names);
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

}  // namespace podium
