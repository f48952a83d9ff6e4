#include "common/console/console_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace podium {
namespace {

constexpr std::size_t kLongestNumber = 64;
constexpr std::int64_t kGreatestStep = std::int64_t{1} << 53;  // all up to it are whole in a double

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Without the commas of "1,234,567". Other commas mean other things, in some languages the decimal point.
std::optional<std::string> without_commas(std::string_view text) {
  std::string digits;
  std::size_t group = 0;  // digits since the last comma
  bool grouped = false;
  for (const char c : text) {
    const bool ends = !is_digit(c);
    if (ends && grouped && group != 3) return std::nullopt;
    if (c == ',') {
      if (digits.find_first_not_of("-0123456789") != std::string::npos || group == 0 || group > 3)
        return std::nullopt;
      grouped = true;
    } else {
      digits += c;
      if (ends) grouped = false;
    }
    group = ends ? 0 : group + 1;
  }
  return grouped && group != 3 ? std::nullopt : std::optional(std::move(digits));
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text.size() > kLongestNumber) return std::nullopt;
  const std::optional<std::string> digits = without_commas(text);
  if (!digits) return std::nullopt;
  Number value{};
  const char* end = digits->data() + digits->size();
  const auto read = std::from_chars(digits->data(), end, value);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(value) : std::nullopt;
}

}  // namespace

nlohmann::json to_json(const ConsoleMemory& memory) {
  return {{"step", memory.step},     {"steps", memory.steps},       {"counts", memory.counts},
          {"banner", memory.banner}, {"examples", memory.examples}, {"epochs", memory.epochs},
          {"batch", memory.batch},   {"seen", memory.seen},         {"evaluated", memory.evaluated}};
}

ConsoleMemory console_memory_from_json(const nlohmann::json& json) {
  ConsoleMemory memory;
  memory.step = json.value("step", memory.step);
  memory.steps = json.value("steps", memory.steps);
  memory.counts = json.value("counts", memory.counts);
  memory.banner = json.value("banner", memory.banner);
  memory.examples = json.value("examples", memory.examples);
  memory.epochs = json.value("epochs", memory.epochs);
  memory.batch = json.value("batch", memory.batch);
  memory.seen = json.value("seen", memory.seen);
  memory.evaluated = json.value("evaluated", memory.evaluated);
  return memory;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::optional<double> console_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return number_in<double>(text);
}

std::optional<std::int64_t> console_count(std::string_view text) {
  const auto value = number_in<std::int64_t>(text);
  return value && *value >= 0 && *value <= kGreatestStep ? value : std::nullopt;
}

std::optional<std::int64_t> console_step(double number) {
  if (!(number >= 0 && number <= static_cast<double>(kGreatestStep))) return std::nullopt;
  return std::llround(number);
}

std::string_view after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + key.size());
}

}  // namespace podium
