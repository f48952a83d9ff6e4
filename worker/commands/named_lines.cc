#include "worker/commands/named_lines.h"

#include <unistd.h>

#include "common/base/file.h"
#include "worker/input/text_files.h"

namespace podium {

std::string LinePlace::text() const { return std::string(file) + ":" + std::to_string(number); }

void for_each_named_line(const std::string& path, const LineSink& sink,
                         const std::function<void()>& before_read) {
  const bool pipe = path == "-";
  const std::string name = pipe ? "standard input" : path;
  const Fd file = pipe ? Fd() : open_text(path);
  LinePlace place{name};
  const auto number = [&](std::string_view line) {
    ++place.number;
    sink(line, place);
  };
  for_each_line(pipe ? STDIN_FILENO : file.get(), name, number, before_read);
}

}  // namespace podium
