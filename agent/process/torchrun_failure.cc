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

// Whether the line may be of the process with that rank on all nodes, or on its own.
struct Ranks {
  int rank = 0, local_rank = 0;

  bool print(std::string_view prefix) const {
    return prefix == "[rank" + std::to_string(rank) + "]:" ||
           prefix == "[default" + std::to_string(local_rank) + "]:";
  }
};

bool is_code(int code) { return (code >= 1 && code <= 255) || (code >= -64 && code <= -1); }

}  // namespace

std::string last_exception(std::string_view text, const std::function<bool(std::string_view)>& is_of) {
  bool within = false;
  std::string_view prefix, found;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!is_of(prefix_of(line))) continue;
    const std::string_view words = without_prefix(line);
    if (words.starts_with(kTraceback)) {
      within = true;
      prefix = prefix_of(line);
    } else if (within && prefix_of(line) == prefix && !words.empty() && !words.starts_with(' ')) {
      within = false;
      found = words;
    }
  }
  return std::string(found);
}

std::optional<TorchrunFailure> torchrun_failure(std::string_view errors) {
  const std::size_t begin = errors.rfind(kReport);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view report = errors.substr(begin);
  const std::size_t cause = report.find("Root Cause (first observed failure):");
  if (cause == std::string_view::npos) return std::nullopt;
  const auto code = number_of(report.substr(cause), "exitcode ");
  const auto rank = number_of(report.substr(cause), "rank ");
  const auto local_rank = number_of(report.substr(cause), "(local_rank");
  if (!code || !is_code(*code) || !rank || !local_rank) return std::nullopt;
  TorchrunFailure failure{std::max(*code, 0), std::max(-*code, 0), *rank, {}, {}};
  // torchrun's own traceback ends with the report.
  const std::string_view said = errors.substr(0, errors.substr(0, begin).rfind(kTraceback));
  const Ranks ranks{*rank, *local_rank};
  failure.message = last_exception(said, [&](std::string_view prefix) { return ranks.print(prefix); });
  failure.last = last_exception(said, [](std::string_view prefix) { return prefix.empty(); });
  return failure;
}

std::string describe(const TorchrunFailure& failure) {
  const std::string process = "process of rank " + std::to_string(failure.rank);
  if (!failure.message.empty()) return process + ": " + failure.message;
  return process + " failed" + (failure.last.empty() ? "" : "; the last exception: " + failure.last);
}

}  // namespace podium
