#include "agent/outputs/path_patterns.h"

#include <algorithm>
#include <optional>

namespace podium {
namespace {

constexpr std::string_view kFolders = "**";

std::vector<std::string> parts_of_glob(const std::string& glob) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= glob.size()) {
    const std::size_t end = std::min(glob.find('/', begin), glob.size());
    std::string part = glob.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == "." || (part == kFolders && !parts.empty() && parts.back() == kFolders))
      continue;
    parts.push_back(std::move(part));
  }
  return parts;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Whether the set that begins at `at`, "[a-z]", holds the character, and where it ends; nothing where it does
// not end, and so is no set.
struct SetLook {
  bool holds;
  std::size_t end;
};

std::optional<SetLook> look_in_set(std::string_view pattern, std::size_t at, char character) {
  std::size_t next = at + 1;
  const bool inverted = next < pattern.size() && (pattern[next] == '!' || pattern[next] == '^');
  next += inverted;
  bool holds = false;
  for (bool first = true; next < pattern.size(); first = false) {
    if (pattern[next] == ']' && !first) return SetLook{holds != inverted, next + 1};
    const char low = pattern[next];
    const bool is_range = next + 2 < pattern.size() && pattern[next + 1] == '-' && pattern[next + 2] != ']';
    const char high = is_range ? pattern[next + 2] : low;
    holds |= low <= character && character <= high;
    next += is_range ? 3 : 1;
  }
  return std::nullopt;
}

}  // namespace

// Goes back to the last * alone, which is enough.
bool matches_glob(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0;
  std::size_t star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
      continue;
    }
    if (p < pattern.size() && pattern[p] == '?') {
      ++p, ++n;
      while (n < name.size() && is_continuation(name[n])) ++n;
      continue;
    }
    const auto set =
        p < pattern.size() && pattern[p] == '[' ? look_in_set(pattern, p, name[n]) : std::nullopt;
    if (set ? set->holds : p < pattern.size() && pattern[p] == name[n]) {
      p = set ? set->end : p + 1;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

PathPatterns::PathPatterns(const std::vector<std::string>& globs) {
  for (const std::string& glob : globs)
    if (auto parts = parts_of_glob(glob); !parts.empty()) globs_.push_back(std::move(parts));
}

// ** stands for no folder, too.
void PathPatterns::reach(Place& place, std::size_t glob, std::size_t part) const {
  const std::vector<std::string>& parts = globs_[glob];
  if (part == parts.size()) {
    place.named = place.all = true;
    return;
  }
  place.at.emplace(glob, part);
  if (parts[part] == kFolders && part + 1 < parts.size()) reach(place, glob, part + 1);
}

PathPatterns::Place PathPatterns::top() const {
  Place place;
  for (std::size_t glob = 0; glob < globs_.size(); ++glob) reach(place, glob, 0);
  return place;
}

PathPatterns::Place PathPatterns::below(const Place& place, std::string_view name) const {
  if (place.all) return place;
  Place next;
  const bool hidden = name.starts_with('.');
  for (const auto& [glob, part] : place.at) {
    const std::vector<std::string>& parts = globs_[glob];
    if (hidden && !parts[part].starts_with('.')) continue;
    if (parts[part] == kFolders) {
      next.named |= part + 1 == parts.size();
      reach(next, glob, part);
    } else if (matches_glob(parts[part], name)) {
      reach(next, glob, part + 1);
    }
  }
  return next;
}

}  // namespace podium
