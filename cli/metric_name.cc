#include "cli/metric_name.h"

#include <algorithm>

#include "common/spec/yaml_text.h"

namespace podium::cli {
namespace {

constexpr std::size_t kLongest = 250;  // bytes, so characters at most

bool is_allowed(char c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c < 0 ||
         std::string_view("/_.- :").find(c) != std::string_view::npos;
}

void add_part(std::string_view part, std::string& path) {
  if (part.empty()) return;
  if (!path.empty()) path += '/';
  const bool dots = part == "." || part == ".." || (path.empty() && part.starts_with(".."));
  path += dots ? std::string(part.size(), '_') : std::string(part);
}

}  // namespace

std::string metric_name(std::string_view name) {
  std::string allowed(name);
  const bool text = is_utf8(name);
  std::ranges::replace_if(
      allowed, [text](char c) { return !is_allowed(c) || (c < 0 && !text); }, '_');
  std::string path;
  for (std::string_view rest = allowed; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    add_part(rest.substr(0, slash), path);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  if (path.size() > kLongest) {
    path.resize(kLongest);
    while (!is_utf8(path)) path.pop_back();
    while (path.ends_with('/')) path.pop_back();
  }
  return path.empty() ? "_" : path;
}

}  // namespace podium::cli
