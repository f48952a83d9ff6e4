#include "worker/data/sentence_sequence.h"

namespace podium {
namespace {

// As the fine-tuning scripts of BERT's authors do (Devlin et al., 2018): the longer one loses its last token
// until both fit, the second where they are equally long.
void cut_pair(std::vector<std::int32_t>& first, std::vector<std::int32_t>& second, std::size_t room) {
  while (first.size() + second.size() > room) (first.size() > second.size() ? first : second).pop_back();
}

}  // namespace

void append_sequence(SentenceTokens sentences, std::int64_t most, const SpecialTokens& special,
                     std::vector<std::int32_t>& ids, std::vector<std::int32_t>& types) {
  cut_pair(sentences.first, sentences.second, static_cast<std::size_t>(most - sentences.special_tokens()));
  const auto append = [&](const std::vector<std::int32_t>& tokens, std::int32_t type) {
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    ids.push_back(special.separator);
    types.resize(ids.size(), type);
  };
  ids.push_back(special.classify);
  append(sentences.first, 0);
  if (sentences.is_pair) append(sentences.second, 1);
}

}  // namespace podium
