// Which tokens the ids of a model stand for. Weights fit ids of the same tokens, and of tokens that go on
// from them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "worker/tokenizer/bpe_vocabulary.h"
#include "worker/tokenizer/vocabulary.h"

namespace podium {

struct VocabularyIdentity {
  std::int64_t tokens = 0;
  std::string xxh3;  // of the tokens in the order of their ids, 16 hexadecimal digits; "" unknown

  bool known() const { return !xxh3.empty(); }
  bool operator==(const VocabularyIdentity&) const = default;
};

// Of the first `count` tokens, which are at most as many as there are.
VocabularyIdentity identity_of(const Vocabulary& vocabulary, std::int64_t count);
VocabularyIdentity identity_of(const BpeVocabulary& vocabulary, std::int64_t count);

// "8192 tokens, XXH3 0123456789abcdef"
std::string describe(const VocabularyIdentity& vocabulary);

nlohmann::json to_json(const VocabularyIdentity& vocabulary);
// Throws nlohmann::json::exception, or std::invalid_argument for what is no identity.
VocabularyIdentity vocabulary_identity_from_json(const nlohmann::json& json);

}  // namespace podium
