// Vectors of the reference implementations, which lie beside the checkout.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/worker/shared_data.h"
#include "worker/tokenizer/tokenizer.h"

namespace podium {

inline std::vector<std::int32_t> encode(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, ids);
  return ids;
}

inline std::vector<std::vector<std::int32_t>> offsets_of(const std::vector<CharacterRange>& ranges) {
  std::vector<std::vector<std::int32_t>> pairs;
  for (const CharacterRange& range : ranges) pairs.push_back({range.begin, range.end});
  return pairs;
}

inline std::vector<std::vector<std::int32_t>> offsets(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> ids;
  std::vector<CharacterRange> ranges;
  tokenizer.encode(text, {ids, &ranges});
  return offsets_of(ranges);
}

// Holds a tokenizer to vectors with "text", "ids" and, where there are any, "offsets".
inline void check_vectors(const Tokenizer& tokenizer, const std::filesystem::path& vectors) {
  std::istringstream lines(read_zstd(vectors));
  int checked = 0, wrong = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    const auto vector = nlohmann::json::parse(line);
    const auto text = vector.at("text").get<std::string>();
    const nlohmann::json found = {{"ids", encode(tokenizer, text)}, {"offsets", offsets(tokenizer, text)}};
    if (found["ids"] == vector.at("ids") &&
        (!vector.contains("offsets") || found["offsets"] == vector["offsets"]))
      continue;
    if (++wrong <= 5) ADD_FAILURE() << "vector " << vector.at("id") << ": " << vector.at("text");
  }
  EXPECT_EQ(wrong, 0) << "of " << checked;
  EXPECT_GT(checked, 500);
}

// Holds a tokenizer to llama.cpp's texts and ids.
inline void check_llama_cpp(const Tokenizer& tokenizer, const std::string& name) {
  const auto texts = shared_data("tokenizer_vectors/llama_cpp/" + name + ".inp");
  const auto expected = shared_data("tokenizer_vectors/llama_cpp/" + name + ".out");
  if (!texts || !expected) GTEST_SKIP() << "skipped: no shared data";
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::string rest = read_file(*texts);
  std::istringstream lines(read_file(*expected));
  int checked = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    const std::size_t end = rest.find(separator);
    const std::string text = rest.substr(0, end);
    rest.erase(0, end == std::string::npos ? rest.size() : end + separator.size());
    std::istringstream numbers(line);
    EXPECT_EQ(encode(tokenizer, text),
              std::vector<std::int32_t>(std::istream_iterator<std::int32_t>(numbers), {}))
        << text;
  }
  EXPECT_GT(checked, 40);
}

}  // namespace podium
