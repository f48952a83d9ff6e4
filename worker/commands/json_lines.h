// The lines of --jsonl: JSON objects.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "worker/commands/named_lines.h"
#include "worker/commands/output.h"
#include "worker/input/bad_data.h"
#include "worker/input/text_files.h"

namespace podium {

// The "id" of a line, a text or a whole number, which is told with what is made of the line.
class LineId {
 public:
  LineId() = default;  // none
  explicit LineId(nlohmann::json value) : value_(std::move(value)) {}

  std::string text() const;  // "" where there is none
  void add_to(nlohmann::ordered_json& object) const;

 private:
  nlohmann::json value_;
};

class JsonLine {
 public:
  // Throws BadData unless it is an object, and no two members have one name.
  JsonLine(std::string_view line, const LinePlace& place);

  const std::string& origin() const { return origin_; }
  bool has(const char* key) const { return object_.contains(key); }
  std::string text(const char* key) const;  // throws BadData unless there is such a text
  LineId id() const;                        // throws BadData where it is something else
  // Throws BadData where there are others than these and the id.
  void refuse_others(std::initializer_list<std::string_view> keys) const;

 private:
  std::string origin_;
  nlohmann::json object_;
};

// Calls `take` with what `read` makes of the lines of `path` that are not blank, at most `most` together.
// Lines that are there are taken, and what was printed is written, before more are waited for and before the
// BadData of a bad line goes on. Throws BadData where every line is blank.
template <class Read, class Take>
void for_each_group(const std::string& path, std::size_t most, const Read& read, const Take& take) {
  std::vector<std::invoke_result_t<const Read&, const JsonLine&>> group;
  bool is_empty = true;
  const auto take_all = [&] {
    if (group.empty()) return;
    take(std::exchange(group, {}));
    flush_output();
  };
  const auto add = [&](std::string_view line, const LinePlace& place) {
    if (is_blank(line)) return;
    is_empty = false;
    group.push_back(read(JsonLine(line, place)));
    if (group.size() == most) take_all();
  };
  try {
    for_each_named_line(path, add, take_all);
  } catch (const BadData&) {
    take_all();
    throw;
  }
  take_all();
  if (is_empty) throw BadData((path == "-" ? "standard input" : path) + " has no line to predict");
}

}  // namespace podium
