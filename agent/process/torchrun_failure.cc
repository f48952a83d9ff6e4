#include "agent/process/torchrun_failure.h"

#include <algorithm>
#include <charconv>

namespace podium {
namespace {

constexpr std::string_view kReport = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError";
constexpr std::string_view kTraceback = "Traceback (most recent call last):";
constexpr std::size_t kLongestPrefix = 40;

// "[rank3]: " or "[default3]:"; "" where the line has none.
std::string_view prefix_of(std::string_view line) {
  const std::size_t end = line.find("]:");
  if (!line.starts_with('[') || end == std::string_view::npos || end > kLongestPrefix) return {};
  return line.substr(0, end + 2);
}

std::string_view without_prefix(std::string_view line) {
  const std::size_t prefix = prefix_of(line).size();
  line.remove_prefix(prefix);
  if (prefix > 0 && line.starts_with(' ') && !line.starts_with("  ")) line.remove_prefix(1);
  return line;
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// The number behind "name      : " in torchrun's report.
std::optional<int> number_of(std::string_view report, std::string_view name) {
  const std::size_t at = report.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = report.substr(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(" :"), text.size()));
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

// An exception that another was raised of is not what ended the program.
bool goes_on(std::string_view text) {
  for (int line = 0; line < 2 && !text.empty(); ++line) {
    const std::string_view next = without_prefix(take_line(text));
    if (next.starts_with("During handling of") || next.starts_with("The above exception")) return true;
  }
  return false;
}

}  // namespace

std::string first_exception(std::string_view text) {
  bool within = false;
  std::string_view prefix;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::string_view words = without_prefix(line);
    if (words.starts_with(kTraceback)) {
      within = true;
      prefix = prefix_of(line);
    } else if (within && prefix_of(line) == prefix && !words.empty() && !words.starts_with(' ')) {
      if (!goes_on(text)) return std::string(words);
      within = false;
    }
  }
  return "";
}

std::optional<TorchrunFailure> torchrun_failure(std::string_view errors) {
  const std::size_t begin = errors.rfind(kReport);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view report = errors.substr(begin);
  const std::size_t cause = report.find("Root Cause (first observed failure):");
  if (cause == std::string_view::npos) return std::nullopt;
  const auto code = number_of(report.substr(cause), "exitcode ");
  const auto rank = number_of(report.substr(cause), "rank ");
  if (!code || !rank) return std::nullopt;
  std::string message = first_exception(errors.substr(0, begin));
  return TorchrunFailure{std::max(*code, 0), std::max(-*code, 0), *rank, std::move(message)};
}

}  // namespace podium
