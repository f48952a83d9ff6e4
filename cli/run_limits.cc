#include "cli/run_limits.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/failure.h"
#include "cli/terminal.h"
#include "common/base/text.h"
#include "common/spec/yaml_text.h"

namespace podium::cli {

bool is_longer(std::string_view text, std::size_t characters) {
  const auto begins = [](char c) { return (c & 0xc0) != 0x80; };
  return static_cast<std::size_t>(std::ranges::count_if(text, begins)) > characters;
}

std::string valid_text(const std::string& text) {
  using nlohmann::json;
  if (is_utf8(text)) return text;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

void check_name(const char* what, const std::string& name, std::size_t longest) {
  const std::string shown = printable(cut_text(valid_text(name), 100));
  if (!is_utf8(name))
    throw Failure(Exit::refused,
                  fmt::format("the name of the {} {} is no UTF-8: give it another", what, shown));
  if (std::ranges::any_of(name, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }))
    throw Failure(Exit::refused,
                  fmt::format("the name of the {} {} has control characters: give it another", what, shown));
  if (is_longer(name, longest))
    throw Failure(Exit::refused,
                  fmt::format("the name of the {} {} has more than {} characters: give it another", what,
                              shown, longest));
}

void check_count(const std::string& run, const char* what, std::size_t count, std::size_t most,
                 const char* remedy) {
  if (count > most)
    throw Failure(Exit::refused, fmt::format("the run {} has {} {}, and a run can have {}{}", printable(run),
                                             count, what, most, remedy));
}

}  // namespace podium::cli
