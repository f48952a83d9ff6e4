#include "coordinator/api/prometheus_text.h"

#include <spdlog/fmt/fmt.h>

namespace podium {
namespace {

std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + '"';
}

}  // namespace

void PrometheusText::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void PrometheusText::line(std::string_view suffix, const Labels& labels, double value) {
  text_ += name_;
  text_ += suffix;
  std::string inner;
  for (const auto& [name, text] : labels)
    inner += (inner.empty() ? "" : ",") + std::string(name) + "=" + quoted(text);
  if (!inner.empty()) text_ += "{" + inner + "}";
  text_ += fmt::format(" {}\n", value);
}

void PrometheusText::histogram(std::string_view name, std::string_view help,
                               const DurationHistogram& histogram) {
  family(name, "histogram", help);
  for (std::size_t i = 0; i < histogram.up_to.size(); ++i)
    line("_bucket", {{"le", fmt::format("{}", DurationHistogram::kBounds[i])}},
         static_cast<double>(histogram.up_to[i]));
  line("_bucket", {{"le", "+Inf"}}, static_cast<double>(histogram.count));
  line("_sum", {}, histogram.sum);
  line("_count", {}, static_cast<double>(histogram.count));
}

}  // namespace podium
