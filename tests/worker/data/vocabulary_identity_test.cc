// Tokens by their order and their bytes, whatever file has them.
#include "worker/data/vocabulary_identity.h"

#include <gmock/gmock.h>
#include <xxhash.h>

#include <nlohmann/json.hpp>

#include "tests/worker/tokenizer/byte_vocabulary.h"

namespace podium {
namespace {

Vocabulary vocabulary_of(const std::vector<std::string>& words) {
  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  tokens.insert(tokens.end(), words.begin(), words.end());
  return Vocabulary(tokens, "tokens");
}

TEST(VocabularyIdentity, IsTheHashOfEachTokensLengthAndBytes) {
  std::string bytes;
  for (const std::string token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the"}) {
    const std::uint64_t size = token.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size) += token;
  }
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(bytes.data(), bytes.size())));
  EXPECT_EQ(identity_of(vocabulary_of({"the", "a"}), 6), (VocabularyIdentity{6, hash}));
  EXPECT_EQ(describe(VocabularyIdentity{6, hash}), "6 tokens, XXH3 " + std::string(hash));
}

TEST(VocabularyIdentity, TellsOrderAndBordersApart) {
  const VocabularyIdentity all = identity_of(vocabulary_of({"ab", "c"}), 7);
  EXPECT_NE(identity_of(vocabulary_of({"c", "ab"}), 7), all);
  EXPECT_NE(identity_of(vocabulary_of({"a", "bc"}), 7), all);
  EXPECT_NE(identity_of(vocabulary_of({"ab", "c"}), 6), all);
  EXPECT_EQ(identity_of(vocabulary_of({"ab", "c", "d"}), 7), all) << "what comes behind does not count";
}

TEST(VocabularyIdentity, OfBytePairsIsThatOfTheirBytes) {
  const BpeVocabulary two = byte_vocabulary({"t h", "th e"}), others = byte_vocabulary({"t h", "o f"});
  EXPECT_EQ(identity_of(two, two.size()).tokens, two.size());
  EXPECT_NE(identity_of(two, two.size()), identity_of(others, others.size()));
  EXPECT_EQ(identity_of(two, 257), identity_of(others, 257)) << "the bytes and \"th\"";
}

TEST(VocabularyIdentity, TravelsAsJsonAndNothingElseIsOne) {
  const VocabularyIdentity identity{6, "0123456789abcdef"};
  EXPECT_EQ(vocabulary_identity_from_json(to_json(identity)), identity);
  EXPECT_THROW(vocabulary_identity_from_json({{"tokens", -1}, {"xxh3", identity.xxh3}}),
               std::invalid_argument);
  EXPECT_THROW(vocabulary_identity_from_json({{"tokens", 6}, {"xxh3", "0123"}}), std::invalid_argument);
  EXPECT_THROW(vocabulary_identity_from_json({{"tokens", 6}}), nlohmann::json::exception);
}

}  // namespace
}  // namespace podium
