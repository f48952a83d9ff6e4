#include "coordinator/mlflow/names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace podium::mlflow {
namespace {

std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(utf8, [](char c) { return (c & 0xc0) != 0x80; }));
}

// Letters of other scripts are more than one byte.
bool may_be_in_name(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c < 0;
  return letter || std::string_view("/_.- :").find(c) != std::string_view::npos;
}

// As a path it would name something else: "a//b", "./a", "a/../b", "/a", "a/".
bool is_plain_path(std::string_view name) {
  if (name.starts_with("..")) return false;
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string wrong_key(std::string_view what, std::string_view key) {
  const std::string shown(key.substr(0, 100));
  if (!std::ranges::all_of(key, may_be_in_name))
    return fmt::format(
        "Invalid {} name: '{}'. Names may only contain alphanumerics, underscores (_), dashes "
        "(-), periods (.), spaces ( ), colons (:) and slashes (/)",
        what, shown);
  if (!is_plain_path(key))
    return fmt::format(
        "Invalid {} name: '{}'. Names may be treated as files in certain cases, and must not "
        "resolve to other names when treated as such",
        what, shown);
  return too_long(fmt::format("{} name", what), key, kLongestKey);
}

std::string wrong_name(std::string_view what, std::string_view name, std::size_t most) {
  const auto is_control = [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; };
  if (std::ranges::any_of(name, is_control))
    return fmt::format("Invalid {}: it has control characters, such as tabs or line ends", what);
  return too_long(what, name, most);
}

std::string too_long(std::string_view what, std::string_view value, std::size_t most) {
  const std::size_t length = characters(value);
  if (length <= most) return "";
  return fmt::format("{} '{}…' had length {}, which exceeded the length limit of {}", what,
                     value.substr(0, 50), length, most);
}

}  // namespace podium::mlflow
