// The lines that a command reads from a file or, where it is called "-", from standard input.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace podium {

struct LinePlace {
  std::string_view file;
  std::int64_t number = 0;

  std::string text() const;  // as messages have it, "file:number"
};

using LineSink = std::function<void(std::string_view line, const LinePlace& place)>;

// Calls `before_read`, if there is one, before each read, which waits where a pipe holds nothing yet. Throws
// BadData where the file cannot be read, or a line is no UTF-8 or longer than kLongestLine.
void for_each_named_line(const std::string& path, const LineSink& sink,
                         const std::function<void()>& before_read = nullptr);

}  // namespace podium
