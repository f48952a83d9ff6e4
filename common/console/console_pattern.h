// A regular expression of a spec's metrics.regex, in RE2's syntax: its time is linear in what is printed,
// whatever the expression. Its named groups are metrics; `step` is the step of their line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/console/console_line.h"

namespace re2 {
class RE2;
}

namespace podium {

inline constexpr std::size_t kLongestPattern = 1000;  // bytes of an expression

class ConsolePattern {
 public:
  // Error: what is wrong with it, without a place.
  static Result<ConsolePattern> compile(const std::string& expression);

  // What the first match in the line tells. Groups that hold no number tell nothing.
  ConsoleLine match(std::string_view line) const;

 private:
  struct Group {
    int index;
    std::string metric;  // "" for the step
  };

  std::shared_ptr<const re2::RE2> expression_;  // shared: compiled once, and never changed
  std::vector<Group> groups_;
};

// The metric that a named group stands for: "eval__loss" is eval/loss, for a group's name cannot have a
// slash.
std::string metric_of_group(std::string_view group);

}  // namespace podium
