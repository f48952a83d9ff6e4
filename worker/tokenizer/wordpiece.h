// WordPiece: a vocabulary read from vocab.txt (id = line number) and BERT's greedy longest-match tokenizer
// over it. Ids must equal those of the reference implementations; tests hold them to published vectors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace podium {

// The five tokens BERT gives a meaning of their own.
struct SpecialTokens {
  std::int32_t pad = 0;
  std::int32_t unknown = 0;
  std::int32_t classify = 0;
  std::int32_t separator = 0;
  std::int32_t mask = 0;
};

class Vocabulary {
 public:
  // Throws BadData where a special token is missing or a token appears twice; `origin` names the source.
  Vocabulary(std::vector<std::string> tokens, const std::string& origin);
  static Vocabulary load(const std::filesystem::path& path);

  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  const std::string& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
  std::optional<std::int32_t> find(std::string_view token) const;
  const SpecialTokens& special() const { return special_; }
  bool continues_word(std::int32_t id) const { return token(id).starts_with("##"); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
  SpecialTokens special_;
};

class WordPieceTokenizer {
 public:
  WordPieceTokenizer(Vocabulary vocabulary, bool lowercase);

  // Appends the ids of `text` (valid UTF-8); special tokens written out in it are kept, none is added.
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  void encode_plain(std::string_view text, std::vector<std::int32_t>& ids) const;
  void encode_word(std::string_view word, int characters, std::vector<std::int32_t>& ids) const;

  Vocabulary vocabulary_;
  bool lowercase_;
};

}  // namespace podium
