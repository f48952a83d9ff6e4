// What can be said of a YAML file's bytes before it is parsed: its size, its encoding, its indentation.
#pragma once

#include <string_view>
#include <vector>

#include "common/spec/problems.h"
#include "common/spec/source_map.h"

namespace podium {

// False, and a problem added, when the text must not be parsed.
bool check_yaml_text(std::string_view text, Problems& problems);

// Turns the parser's zero-based line and byte column into the place an editor shows.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  Place place(int line, int byte_column) const;

 private:
  std::vector<std::string_view> lines_;
};

}  // namespace podium
