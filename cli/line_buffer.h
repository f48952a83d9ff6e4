// One output as lines: of what \r rewrites the last state counts, and a line without its end can be shown
// once nothing more comes. Pure; times are milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podium::cli {

class LineBuffer {
 public:
  // The lines that `text` ends, without what was shown of them already as it is.
  std::vector<std::string> feed(std::string_view text, std::int64_t now);
  // The line that has no end yet, when it is time to show it: it has been silent for a second, or is
  // rewritten all the time and was not shown for one. Each state once.
  std::optional<std::string> unended(std::int64_t now);
  // At the end of the output: what is left.
  std::optional<std::string> rest();

 private:
  void add(std::string_view text, std::vector<std::string>& lines);
  void end(std::vector<std::string>& lines);

  std::string line_;
  std::optional<std::string> shown_;  // of the line, as it was then
  bool at_start_ = false;             // after a \r: what comes next replaces the line
  bool rewritten_ = false;
  std::int64_t changed_ = 0, shown_at_ = 0;
};

}  // namespace podium::cli
