#include "worker/evaluate/wikitext.h"

#include <algorithm>
#include <array>
#include <utility>

#include "worker/input/utf8.h"
#include "worker/input/white_space.h"

namespace podium {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t found; (found = text.find(from, begin)) != text.npos; begin = found + from.size()) {
    out.append(text, begin, found - begin);
    out += to;
  }
  if (begin == 0) return;
  out.append(text, begin);
  text = std::move(out);
}

std::string_view stripped(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size() && is_python_space(next_character(text, at));) begin = at;
  std::size_t end = text.size();
  while (end > begin) {
    std::size_t last = end - 1;
    while (last > begin && (text[last] & 0xC0) == 0x80) --last;
    std::size_t at = last;
    if (!is_python_space(next_character(text, at))) break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

// Takes away the white space behind each opening mark and before the closing mark that comes next.
void close_up(std::string& text, char open, char close) {
  std::string out;
  std::size_t begin = 0;
  while (true) {
    const std::size_t opened = text.find(open, begin);
    const std::size_t closed = opened == text.npos ? text.npos : text.find(close, opened + 1);
    if (closed == text.npos) break;
    out.append(text, begin, opened + 1 - begin);
    out += stripped(std::string_view(text).substr(opened + 1, closed - opened - 1));
    out += close;
    begin = closed + 1;
  }
  out.append(text, begin);
  text = std::move(out);
}

// Megatron-LM's expression for contractions has its slashes inside: /' 7/ becomes /'[0-9]/.
void replace_slashed_digit(std::string& text) {
  for (char digit = '0'; digit <= '9'; ++digit)
    replace_all(text, std::string("/' ") + digit + "/", "/'[0-9]/");
}

}  // namespace

std::string detokenize_wikitext(std::string_view text) {
  std::string plain(text);
  using Pair = std::pair<std::string_view, std::string_view>;
  const auto replace = [&](const auto& pairs) {
    for (const auto& [from, to] : pairs) replace_all(plain, from, to);
  };
  replace(std::array{Pair{"s '", "s'"}});
  replace_slashed_digit(plain);
  replace(std::array{Pair{" @-@ ", "-"}, Pair{" @,@ ", ","}, Pair{" @.@ ", "."}, Pair{" : ", ": "},
                     Pair{" ; ", "; "}, Pair{" . ", ". "}, Pair{" ! ", "! "}, Pair{" ? ", "? "},
                     Pair{" , ", ", "}});
  for (const char* marks : {"()", "[]", "{}", "\"\"", "''"}) close_up(plain, marks[0], marks[1]);
  replace(std::array{Pair{"= = = =", "===="}, Pair{"= = =", "==="}, Pair{"= =", "=="}, Pair{" ° ", "°"},
                     Pair{" \n", "\n"}, Pair{"\n ", "\n"}, Pair{" N ", " 1 "}, Pair{" 's", "'s"}});
  return plain;
}

std::int64_t count_wikitext_words(std::string_view text) {
  const std::string_view all = stripped(text);
  return 1 + std::count(all.begin(), all.end(), ' ');
}

}  // namespace podium
