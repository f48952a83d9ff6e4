// WordPiece's vocabulary: ids count from 0 in the order of vocab.txt's lines.
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

// What they are called.
struct SpecialNames {
  std::string pad = "[PAD]";
  std::string unknown = "[UNK]";
  std::string classify = "[CLS]";
  std::string separator = "[SEP]";
  std::string mask = "[MASK]";
};

// Immutable once made.
class Vocabulary {
 public:
  enum class Needs { all_special, unknown_alone };

  // Throws BadData where a special token that is needed is missing (the others are -1 then), a token appears
  // twice or is no UTF-8; `origin` names the source.
  Vocabulary(std::vector<std::string> tokens, const std::string& origin, const SpecialNames& names = {},
             Needs needs = Needs::all_special);
  static Vocabulary load(const std::filesystem::path& path, const SpecialNames& names = {});

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

}  // namespace podium
