#include "common/console/console_line.h"

#include <algorithm>
#include <charconv>

namespace podium {
namespace {

constexpr std::size_t kLongestNumber = 64;

}  // namespace

nlohmann::json to_json(const ConsoleMemory& memory) {
  return {{"step", memory.step},         {"steps", memory.steps},   {"counts", memory.counts},
          {"examples", memory.examples}, {"epochs", memory.epochs}, {"batch", memory.batch},
          {"seen", memory.seen}};
}

ConsoleMemory console_memory_from_json(const nlohmann::json& json) {
  return {json.at("step"),   json.at("steps"), json.at("counts"), json.at("examples"),
          json.at("epochs"), json.at("batch"), json.at("seen")};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::optional<double> console_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.size() > kLongestNumber) return std::nullopt;
  std::string digits(text);
  std::erase(digits, ',');
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> console_count(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text.size() > kLongestNumber) return std::nullopt;
  std::string digits(text);
  std::erase(digits, ',');
  std::int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  return read.ec == std::errc{} && read.ptr == end && value >= 0 ? std::optional(value) : std::nullopt;
}

std::string_view after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + key.size());
}

}  // namespace podium
