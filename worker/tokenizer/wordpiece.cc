#include "worker/tokenizer/wordpiece.h"

#include <array>

#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/tokenizer/words.h"

namespace podium {
namespace {

constexpr int kLongestWord = 100;  // characters; longer words are unknown, as in BERT

constexpr std::array<std::string_view, 5> kSpecialNames{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// The special token that `text` starts with, or "".
std::string_view special_prefix(std::string_view text) {
  for (const std::string_view name : kSpecialNames)
    if (text.starts_with(name)) return name;
  return {};
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> tokens, const std::string& origin)
    : tokens_(std::move(tokens)) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (ids_.emplace(tokens_[i], static_cast<std::int32_t>(i)).second) continue;
    throw BadData(origin + ":" + std::to_string(i + 1) + ": the token \"" + tokens_[i] +
                  "\" appears a second time");
  }
  const auto special = [&](std::string_view name) {
    const auto id = find(name);
    if (!id) throw BadData(origin + ": the vocabulary lacks the token " + std::string(name));
    return *id;
  };
  special_ = {special("[PAD]"), special("[UNK]"), special("[CLS]"), special("[SEP]"), special("[MASK]")};
}

Vocabulary Vocabulary::load(const std::filesystem::path& path) {
  return Vocabulary(split_lines(read_input(path)), path.string());
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

WordPieceTokenizer::WordPieceTokenizer(Vocabulary vocabulary, bool lowercase)
    : vocabulary_(std::move(vocabulary)), lowercase_(lowercase) {}

void WordPieceTokenizer::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
  std::size_t plain = 0;
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at)) {
    const std::string_view name = special_prefix(text.substr(at));
    if (name.empty()) {
      ++at;
      continue;
    }
    encode_plain(text.substr(plain, at - plain), ids);
    ids.push_back(*vocabulary_.find(name));
    at += name.size();
    plain = at;
  }
  encode_plain(text.substr(plain), ids);
}

void WordPieceTokenizer::encode_plain(std::string_view text, std::vector<std::int32_t>& ids) const {
  split_words(text, lowercase_,
              [&](std::string_view word, int characters) { encode_word(word, characters, ids); });
}

void WordPieceTokenizer::encode_word(std::string_view word, int characters,
                                     std::vector<std::int32_t>& ids) const {
  const std::size_t first = ids.size();
  const auto unknown = [&] {
    ids.resize(first);
    ids.push_back(vocabulary_.special().unknown);
  };
  if (characters > kLongestWord) return unknown();

  std::string piece;
  for (std::size_t begin = 0; begin < word.size();) {
    piece.assign(begin == 0 ? "" : "##");
    const std::size_t prefix = piece.size();
    piece.append(word.substr(begin));
    std::optional<std::int32_t> id;
    while (piece.size() > prefix && !(id = vocabulary_.find(piece))) piece.pop_back();
    if (!id) return unknown();
    ids.push_back(*id);
    begin += piece.size() - prefix;
  }
}

}  // namespace podium
