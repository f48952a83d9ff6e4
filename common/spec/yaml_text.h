// Checks the bytes of a YAML file before it is parsed: size, encoding, indentation.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/spec/problems.h"
#include "common/spec/source_map.h"

namespace podium {

bool is_utf8(std::string_view text);

// Adds a problem and returns false where the text must not be parsed.
bool check_yaml_text(std::string_view text, Problems& problems);

// Converts the parser's zero-based line and byte column to the place that an editor shows. The cost does not
// depend on the column, because a line may be as long as the file.
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
