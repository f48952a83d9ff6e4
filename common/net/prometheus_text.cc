#include "common/net/prometheus_text.h"

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

void PrometheusText::sample(const Labels& labels, const Histogram& histogram) {
  for (std::size_t i = 0; i <= histogram.bounds.size(); ++i) {
    const bool is_last = i == histogram.bounds.size();
    const std::string bound = is_last ? "+Inf" : fmt::format("{}", histogram.bounds[i]);
    Labels bounded = labels;
    bounded.emplace_back("le", bound);
    line("_bucket", bounded, static_cast<double>(is_last ? histogram.count : histogram.up_to[i]));
  }
  line("_sum", labels, histogram.sum);
  line("_count", labels, static_cast<double>(histogram.count));
}

}  // namespace podium
