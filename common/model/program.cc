#include "common/model/program.h"

#include <algorithm>

namespace podium {
namespace {

constexpr std::array<std::string_view, 13> kReservedNames{"RANK",
                                                          "WORLD_SIZE",
                                                          "LOCAL_RANK",
                                                          "LOCAL_WORLD_SIZE",
                                                          "GROUP_RANK",
                                                          "GROUP_WORLD_SIZE",
                                                          "ROLE_RANK",
                                                          "ROLE_WORLD_SIZE",
                                                          "ROLE_NAME",
                                                          "MASTER_ADDR",
                                                          "MASTER_PORT",
                                                          "CUDA_VISIBLE_DEVICES",
                                                          "CUDA_DEVICE_ORDER"};
constexpr std::array<std::string_view, 3> kReservedPrefixes{"PODIUM_", "TORCHELASTIC_", "PET_"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The plain name between `open` and `close` at the beginning of `text`; "" where there is none.
std::string_view name_between(std::string_view text, std::string_view open, std::string_view close) {
  if (!text.starts_with(open)) return {};
  const std::size_t end = text.find(close, open.size());
  if (end == std::string_view::npos) return {};
  const std::string_view name = text.substr(open.size(), end - open.size());
  return is_plain_name(name) ? name : std::string_view{};
}

// Takes `text` apart: plain(part) for what means itself, placeholder(name) for the others.
template <class Plain, class Placeholder>
void each_part(std::string_view text, const Plain& plain, const Placeholder& placeholder) {
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find('{'), text.size());
    const bool shells = brace > 0 && text[brace - 1] == '$';
    plain(text.substr(0, brace));
    text.remove_prefix(brace);
    if (text.empty()) return;
    if (const std::string_view literal = shells ? "" : name_between(text, "{{", "}}"); !literal.empty()) {
      plain(text.substr(1, literal.size() + 2));
      text.remove_prefix(literal.size() + 4);
    } else if (const std::string_view name = shells ? "" : name_between(text, "{", "}"); !name.empty()) {
      placeholder(name);
      text.remove_prefix(name.size() + 2);
    } else {
      plain(text.substr(0, 1));
      text.remove_prefix(1);
    }
  }
}

}  // namespace

bool is_plain_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

std::vector<std::string> placeholders_in(std::string_view text) {
  std::vector<std::string> names;
  each_part(
      text, [](std::string_view) {}, [&](std::string_view name) { names.emplace_back(name); });
  return names;
}

std::string fill_placeholders(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string out;
  each_part(
      text, [&](std::string_view plain) { out += plain; },
      [&](std::string_view name) {
        const auto value = values.find(std::string(name));
        out += value == values.end() ? "{" + std::string(name) + "}" : value->second;
      });
  return out;
}

bool is_reserved_variable(std::string_view name) {
  return std::ranges::find(kReservedNames, name) != kReservedNames.end() ||
         std::ranges::any_of(kReservedPrefixes, [&](std::string_view p) { return name.starts_with(p); });
}

std::string parameter_variable(std::string_view name) {
  std::string variable = "PODIUM_PARAM_" + std::string(name);
  for (char& c : variable)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return variable;
}

std::string parameter_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace podium
