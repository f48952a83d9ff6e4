#include "cli/line_buffer.h"

#include <algorithm>
#include <utility>

namespace podium::cli {
namespace {

constexpr std::int64_t kSilence = 1000;
constexpr std::size_t kLongestLine = 64 * 1024;  // a longer one comes in parts

// At most so many bytes of the text that do not end within a character of UTF-8, where it is UTF-8.
std::size_t whole_characters(std::string_view text, std::size_t room) {
  constexpr std::size_t kLongestCharacter = 4;
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t end = room;
  while (end > 0 && room - end < kLongestCharacter && continues(end)) --end;
  return continues(end) ? room : end;
}

}  // namespace

std::vector<std::string> LineBuffer::feed(std::string_view text, std::int64_t now) {
  std::vector<std::string> lines;
  if (!text.empty()) changed_ = now;
  while (!text.empty()) {
    const std::size_t stop = std::min(text.find_first_of("\r\n"), text.size());
    add(text.substr(0, stop), lines);
    if (stop < text.size() && text[stop] == '\n') end(lines);
    if (stop < text.size() && text[stop] == '\r') at_start_ = true;
    text.remove_prefix(std::min(stop + 1, text.size()));
  }
  return lines;
}

void LineBuffer::add(std::string_view text, std::vector<std::string>& lines) {
  if (text.empty()) return;
  if (std::exchange(at_start_, false)) {
    line_.clear();
    rewritten_ = true;
  }
  for (; line_.size() + text.size() > kLongestLine; end(lines)) {
    const std::size_t room = whole_characters(text, kLongestLine - line_.size());
    line_ += text.substr(0, room);
    text.remove_prefix(room);
  }
  line_ += text;
}

void LineBuffer::end(std::vector<std::string>& lines) {
  if (line_ != shown_) lines.push_back(std::move(line_));
  line_.clear();
  shown_.reset();
  at_start_ = rewritten_ = false;
  shown_at_ = 0;
}

std::optional<std::string> LineBuffer::unended(std::int64_t now) {
  const bool due = now - changed_ >= kSilence || (rewritten_ && now - shown_at_ >= kSilence);
  if (line_.empty() || line_ == shown_ || !due) return std::nullopt;
  shown_at_ = now;
  shown_ = line_;
  return line_;
}

std::optional<std::string> LineBuffer::rest() {
  std::vector<std::string> lines;
  if (!line_.empty()) end(lines);
  return lines.empty() ? std::nullopt : std::optional(std::move(lines.front()));
}

}  // namespace podium::cli
