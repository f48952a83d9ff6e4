// What can be said of a YAML file's bytes before it is parsed: its size, its encoding, its indentation.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/spec/problems.h"
#include "common/spec/source_map.h"

namespace podium {

bool is_utf8(std::string_view text);

// False, and a problem added, when the text must not be parsed.
bool check_yaml_text(std::string_view text, Problems& problems);

// Turns the parser's zero-based line and byte column into the place an editor shows. A place costs the same
// wherever it is in its line: a list of a file's length may stand in one.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  Place place(int line, int byte_column) const;

 private:
  std::size_t characters_before(std::size_t at) const;

  std::string_view text_;
  std::vector<std::size_t> lines_;       // where each begins
  std::vector<std::size_t> characters_;  // before every kStride-th byte of the text
};

}  // namespace podium
