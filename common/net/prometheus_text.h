// Metrics in the text format 0.0.4 of Prometheus, in which the samples of a family stand together under one #
// HELP and # TYPE.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/histogram.h"

namespace podium {

class PrometheusText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // Begins a family; the samples that follow belong to it. A counter's name ends in _total.
  void counter(std::string_view name, std::string_view help) { family(name, "counter", help); }
  void gauge(std::string_view name, std::string_view help) { family(name, "gauge", help); }
  void histogram(std::string_view name, std::string_view help) { family(name, "histogram", help); }
  void sample(const Labels& labels, double value) { line("", labels, value); }
  void sample(const Labels& labels, const Histogram& histogram);

  const std::string& text() const { return text_; }

 private:
  void family(std::string_view name, std::string_view type, std::string_view help);
  void line(std::string_view suffix, const Labels& labels, double value);

  std::string text_;
  std::string name_;  // of the family
};

}  // namespace podium
