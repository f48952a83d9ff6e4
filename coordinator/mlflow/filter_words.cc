#include "coordinator/mlflow/filter_words.h"

#include <algorithm>

namespace podium::mlflow {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_quote(char c) { return c == '\'' || c == '"' || c == '`'; }
bool is_sign(char c) { return std::string_view("=!<>(),").find(c) != std::string_view::npos; }

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Takes a quoted word off the front. A quote within is written twice.
Result<Word> take_quoted(std::string_view& text) {
  const char quote = text.front();
  Word word{quote == '\'' ? WordKind::single : WordKind::other, ""};
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool doubled = text[i] == quote && i + 1 < text.size() && text[i + 1] == quote;
    if (text[i] == quote && !doubled) {
      text.remove_prefix(i + 1);
      return word;
    }
    word.text += text[i];
    i += doubled ? 1 : 0;
  }
  return Error{
      ErrorCode::invalid,
      "Invalid filter string: the quote before " + std::string(text.substr(1, 50)) + " is not closed", ""};
}

Word take_sign(std::string_view& text) {
  const bool two =
      text.size() > 1 && text[1] == '=' && std::string_view("!<>").find(text[0]) != std::string_view::npos;
  Word word{WordKind::sign, std::string(text.substr(0, two ? 2 : 1))};
  text.remove_prefix(word.text.size());
  return word;
}

Word take_plain(std::string_view& text) {
  const auto end =
      std::ranges::find_if(text, [](char c) { return is_space(c) || is_quote(c) || is_sign(c); });
  Word word{WordKind::plain, std::string(text.begin(), end)};
  text.remove_prefix(word.text.size());
  return word;
}

}  // namespace

Result<std::vector<Word>> split_words(std::string_view text) {
  std::vector<Word> words;
  while (true) {
    const std::size_t before = text.size();
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    const bool joined = text.size() == before;
    if (text.empty()) break;
    if (is_quote(text.front())) {
      Result<Word> word = take_quoted(text);
      if (!word) return word.errors();
      words.push_back(std::move(word).value());
    } else {
      words.push_back(is_sign(text.front()) ? take_sign(text) : take_plain(text));
    }
    words.back().joined = joined;
  }
  words.push_back({});
  return words;
}

bool is_word(const Word& word, std::string_view upper_case) {
  return word.kind == WordKind::plain && std::ranges::equal(word.text, upper_case, {}, upper);
}

}  // namespace podium::mlflow
