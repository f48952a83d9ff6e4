#include "worker/data/sentence_sequence.h"

#include "worker/data/cut_pair.h"

namespace podium {

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
