#include "worker/data/vocabulary_identity.h"

#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "common/model/hash_text.h"
#include "worker/data/xxh3.h"

namespace podium {
namespace {

// With the length of each, for a token may be any bytes.
template <class Tokens>
VocabularyIdentity identity_of_first(const Tokens& tokens, std::int64_t count) {
  Xxh3 hash;
  for (std::int32_t id = 0; id < count; ++id) {
    const std::string& token = tokens.token(id);
    const std::uint64_t size = token.size();
    hash.add(std::as_bytes(std::span(&size, 1)));
    hash.add(std::as_bytes(std::span(token)));
  }
  return {count, hash.digest().xxh3};
}

}  // namespace

VocabularyIdentity identity_of(const Vocabulary& vocabulary, std::int64_t count) {
  return identity_of_first(vocabulary, count);
}

VocabularyIdentity identity_of(const BpeVocabulary& vocabulary, std::int64_t count) {
  return identity_of_first(vocabulary, count);
}

std::string describe(const VocabularyIdentity& vocabulary) {
  return std::to_string(vocabulary.tokens) + " tokens, XXH3 " + vocabulary.xxh3;
}

nlohmann::json to_json(const VocabularyIdentity& vocabulary) {
  return {{"tokens", vocabulary.tokens}, {"xxh3", vocabulary.xxh3}};
}

VocabularyIdentity vocabulary_identity_from_json(const nlohmann::json& in) {
  VocabularyIdentity vocabulary{in.at("tokens"), in.at("xxh3")};
  if (vocabulary.tokens < 0 || !is_xxh3_text(vocabulary.xxh3))
    throw std::invalid_argument(
        "\"vocabulary\" is no identity of one: it needs a count and 16 hexadecimal digits");
  return vocabulary;
}

}  // namespace podium
