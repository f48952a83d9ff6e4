// Text files named by paths and globs, read line by line. What cannot be read is BadData with the file and
// the line.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/file.h"

namespace podium {

// The files that `patterns` name, each glob's matches sorted; relative patterns begin at `folder`. A pattern
// that matches nothing is BadData.
std::vector<std::filesystem::path> expand_globs(const std::vector<std::string>& patterns,
                                                const std::filesystem::path& folder);

// Those of `some` that are also among `others`, under whatever name.
std::vector<std::filesystem::path> files_in_both(const std::vector<std::filesystem::path>& some,
                                                 const std::vector<std::filesystem::path>& others);

// Of nothing but white space of ASCII.
inline bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

inline constexpr std::size_t kLongestLine = std::size_t{1} << 28;  // bytes; a whole line is in memory

// To read text from, also a pipe. Throws BadData.
Fd open_text(const std::filesystem::path& path);

// Calls `sink` with every line, without its line end. Also reads pipes. Throws BadData where a line is not
// UTF-8 or longer than kLongestLine.
void for_each_line(const std::filesystem::path& path, const std::function<void(std::string_view line)>& sink);
// The same of an open file, which messages call `name`. Calls `before_read`, if there is one, before each
// read, which waits where a pipe holds nothing yet.
void for_each_line(int file, const std::string& name, const std::function<void(std::string_view line)>& sink,
                   const std::function<void()>& before_read = nullptr);
// The same of text that `read` brings part by part: it tells how many bytes it put into the span, none at the
// end.
using ReadText = std::function<std::size_t(std::span<char>)>;
void for_each_line(const ReadText& read, const std::string& name,
                   const std::function<void(std::string_view line)>& sink);
// The same of a text in memory, which is not checked.
void for_each_line_in(std::string_view text, const std::function<void(std::string_view line)>& sink);

}  // namespace podium
