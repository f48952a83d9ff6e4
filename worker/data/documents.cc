#include "worker/data/documents.h"

#include <algorithm>
#include <string>

#include "worker/input/bad_data.h"
#include "worker/input/mapped_file.h"
#include "worker/input/text_files.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

constexpr std::size_t kCheckedTogether = std::size_t{4} << 20;  // bytes, and on to the end of the line

// In pieces that end with a line, for a character must not be cut.
void check_text(std::string_view text, const std::filesystem::path& path, Reading& reading) {
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    const std::size_t line_end = text.find('\n', begin + kCheckedTogether);
    end = line_end == std::string_view::npos ? text.size() : line_end + 1;
    const std::size_t found = find_invalid_utf8(text.substr(begin, end - begin));
    reading.advance(0);  // quick beside what is done with it afterwards
    if (found == std::string_view::npos) continue;
    const std::size_t bad = begin + found;
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
    throw BadData(path.string() + ":" + std::to_string(line) + ": byte " + std::to_string(bad + 1) +
                  " of the file is not UTF-8; convert the file (for example with iconv)");
  }
}

}  // namespace

void for_each_document(const std::filesystem::path& path, Reading& reading,
                       const std::function<void(std::string_view document)>& sink) {
  const MappedFile file(path);
  std::string_view rest = file.bytes();
  check_text(rest, path, reading);
  while (!rest.empty()) {
    const std::string_view document = rest.substr(0, rest.find(kEndOfText));
    rest.remove_prefix(std::min(rest.size(), document.size() + kEndOfText.size()));
    if (!is_blank(document)) sink(document);
  }
}

}  // namespace podium
