#include "worker/tokenizer/byte_trie.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "worker/tensor/random.h"

namespace podium {
namespace {

TEST(ByteTrie, FindsWhatAMapFinds) {
  Random random(21, 0);
  const auto word = [&](std::uint32_t longest) {
    std::string text;
    for (std::uint32_t i = 0, size = 1 + random.below(longest); i < size; ++i)
      text += static_cast<char>(random.below(4) ? "abc"[random.below(3)] : random.below(256));
    return text;
  };
  std::map<std::string, std::int32_t, std::less<>> known;
  while (known.size() < 5000) known.emplace(word(9), static_cast<std::int32_t>(known.size()));
  const ByteTrie trie({known.begin(), known.end()});
  for (const auto& [key, value] : known) ASSERT_EQ(trie.find(key), value);
  for (int round = 0; round < 20000; ++round) {
    const std::string text = word(12);
    const auto found = known.find(text);
    ASSERT_EQ(trie.find(text), found == known.end() ? ByteTrie::kNone : found->second);
    ByteTrie::Match expected;
    for (std::size_t bytes = 1; bytes <= text.size(); ++bytes)
      if (const auto key = known.find(std::string_view(text).substr(0, bytes)); key != known.end())
        expected = {key->second, bytes};
    const ByteTrie::Match match = trie.longest(text);
    ASSERT_EQ(match.value, expected.value);
    ASSERT_EQ(match.bytes, expected.bytes);
  }
}

TEST(ByteTrie, AnEmptyOneFindsNothing) {
  const ByteTrie trie;
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_EQ(trie.find(std::string(1, static_cast<char>(byte))), ByteTrie::kNone);
  EXPECT_EQ(trie.find(""), ByteTrie::kNone);
  EXPECT_EQ(trie.longest("a").value, ByteTrie::kNone);
}

// Nodes of 129 children leave half of each block free, into which no other of them fits.
TEST(ByteTrie, ManyNodesThatFitIntoNoGapAreQuick) {
  std::vector<std::string> keys;
  for (int node = 0; node < 1 << 14; ++node)
    for (int byte = 0; byte < 129; ++byte)
      keys.push_back({static_cast<char>(node >> 7), static_cast<char>(node & 127), static_cast<char>(byte)});
  std::vector<ByteTrie::Entry> entries;
  for (const std::string& key : keys) entries.emplace_back(key, static_cast<std::int32_t>(entries.size()));
  const ByteTrie trie(entries);
  for (const ByteTrie::Entry& entry : entries) ASSERT_EQ(trie.find(entry.first), entry.second);
}

TEST(ByteTrie, HoldsAKeyOfAMebibyte) {
  const std::string key(std::size_t{1} << 20, 'x');
  const ByteTrie trie({{key, 7}});
  EXPECT_EQ(trie.find(key), 7);
  EXPECT_EQ(trie.longest(key.substr(1)).value, ByteTrie::kNone);
}

}  // namespace
}  // namespace podium
