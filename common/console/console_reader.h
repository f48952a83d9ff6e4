// Reads metrics from a program's lines, by the parsers and expressions of its spec. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/console/console_pattern.h"
#include "common/console/named_parsers.h"

namespace podium {

inline constexpr std::size_t kMostConsoleValues = 100;  // of one line; what is beyond is left out

class ConsoleReader {
 public:
  // Errors: each name that is no parser's, with a remark on those there are, and each expression that is not
  // valid. Their `where` are "/parsers/0" and "/regex/2".
  static Result<ConsoleReader> make(const std::vector<std::string>& parsers,
                                    const std::vector<std::string>& regex);

  // What the line tells, with a step wherever it has values: its own, else the last one told, else the number
  // of such lines. A line that tells nothing but a step is remembered.
  ConsoleLine read(std::string_view line, ConsoleMemory& memory) const;

  bool idle() const { return parsers_.empty() && patterns_.empty(); }

 private:
  std::vector<const NamedParser*> parsers_;
  std::vector<ConsolePattern> patterns_;
};

}  // namespace podium
