// The lines of --jsonl: JSON objects.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "worker/commands/named_lines.h"

namespace podium {

class JsonLine {
 public:
  // Throws BadData unless it is an object.
  JsonLine(std::string_view line, const LinePlace& place);

  const std::string& origin() const { return origin_; }
  bool has(const char* key) const { return object_.contains(key); }
  std::string text(const char* key) const;  // throws BadData unless there is such a text
  std::string id() const;                   // "" where there is none

 private:
  std::string origin_;
  nlohmann::json object_;
};

// Calls `take` with the lines of `path` that are not blank, at most `most` together. Lines that are there are
// taken, and what was printed is written, before more are waited for.
void for_each_group(const std::string& path, std::size_t most,
                    const std::function<void(const std::vector<JsonLine>& lines)>& take);

}  // namespace podium
