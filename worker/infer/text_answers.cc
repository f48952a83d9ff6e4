#include "worker/infer/text_answers.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "worker/input/bad_data.h"

namespace podium {

void check_masks(std::span<const TextSequence> sequences, const BertWeights& weights,
                 const std::string& origin) {
  const bool masked = std::ranges::any_of(sequences, [](const auto& s) { return !s.masked.empty(); });
  if (masked && !weights.prediction)
    throw BadData(origin + " has no head that predicts masked tokens; leave [MASK] out of the text");
}

void drop_unknown(TextResult& result, const WordPieceTokenizer& tokenizer) {
  for (auto& candidates : result.masks)
    std::erase_if(candidates,
                  [&](const Candidate& candidate) { return tokenizer.token(candidate.token).empty(); });
}

std::string result_text(const TextSequence& sequence, const TextResult& result,
                        const WordPieceTokenizer& tokenizer) {
  std::string text = sequence.text + "\n";
  for (const auto& candidates : result.masks) {
    text += "  [MASK]";
    for (const Candidate& candidate : candidates)
      text += fmt::format("  {} {:.3f}", tokenizer.token(candidate.token), candidate.probability);
    text += "\n";
  }
  if (result.follows) text += fmt::format("  second follows first: {:.3f}\n", *result.follows);
  return text;
}

nlohmann::json result_json(const TextSequence& sequence, const TextResult& result,
                           const WordPieceTokenizer& tokenizer) {
  nlohmann::json masks = nlohmann::json::array();
  for (std::size_t i = 0; i < result.masks.size(); ++i) {
    nlohmann::json candidates = nlohmann::json::array();
    for (const Candidate& candidate : result.masks[i])
      candidates.push_back(
          {{"token", tokenizer.token(candidate.token)}, {"probability", candidate.probability}});
    masks.push_back({{"position", sequence.masked[i]}, {"candidates", candidates}});
  }
  nlohmann::json object{{"tokens", sequence.length()}, {"masks", masks}};
  if (result.follows) object["follows"] = *result.follows;
  return object;
}

}  // namespace podium
