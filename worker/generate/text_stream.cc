#include "worker/generate/text_stream.h"

#include <algorithm>

#include "worker/input/utf8.h"

namespace podium {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Of a character's first byte: how many it has; 1 for what is no such byte.
std::size_t length_of_character(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
}

// Whether more bytes may make a character of these.
bool may_become_character(std::string_view bytes) {
  return bytes.size() < length_of_character(bytes.front()) &&
         std::ranges::all_of(bytes.substr(1), [](char byte) { return (byte & 0xC0) == 0x80; });
}

}  // namespace

std::string TextStream::add(std::string_view bytes) {
  bytes_ += bytes;
  std::size_t at = 0;
  while (at < bytes_.size() && !stopped_) {
    std::size_t end = at;
    const bool whole = next_character(bytes_, end) >= 0;
    if (!whole && may_become_character(std::string_view(bytes_).substr(at))) break;
    stopped_ = take(whole ? std::string_view(bytes_).substr(at, end - at) : kReplacement);
    at = end;
  }
  bytes_.erase(0, at);
  return release();
}

std::string TextStream::finish() {
  if (!bytes_.empty() && !stopped_) stopped_ = take(kReplacement);
  bytes_.clear();
  return stopped_ ? release() : std::exchange(held_, {});
}

// Whether a stop string ends with this character, which then is cut off.
bool TextStream::take(std::string_view character) {
  held_ += character;
  std::size_t longest = 0;
  for (const std::string& stop : stops_)
    if (held_.ends_with(stop)) longest = std::max(longest, stop.size());
  held_.resize(held_.size() - longest);
  return longest > 0;
}

// All but the longest end that some stop string begins with.
std::string TextStream::release() {
  std::size_t kept = 0;
  for (const std::string& stop : stops_)
    for (std::size_t size = std::min(stop.size() - 1, held_.size()); size > kept && !stopped_; --size)
      if (held_.ends_with(std::string_view(stop).substr(0, size))) kept = size;
  std::string told = held_.substr(0, held_.size() - kept);
  held_.erase(0, told.size());
  return told;
}

}  // namespace podium
