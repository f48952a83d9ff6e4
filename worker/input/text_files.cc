#include "worker/input/text_files.h"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/base/file.h"
#include "worker/input/bad_data.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;

std::size_t read_file_part(int file, std::span<char> to, const std::string& name) {
  ssize_t got = 0;
  do {
    got = ::read(file, to.data(), to.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw BadData("cannot read the text: " + name + ": " + std::strerror(errno));
  return static_cast<std::size_t>(got);
}

// Reads into the end of `buffer`; false at the end of the text.
bool read_more(const ReadText& read, std::string& buffer) {
  const std::size_t used = buffer.size();
  buffer.resize(used + kReadBytes);
  const std::size_t got = read(std::span(buffer).subspan(used));
  buffer.resize(used + got);
  return got > 0;
}

void check_length(std::size_t bytes, const std::string& name, std::int64_t number) {
  if (bytes > kLongestLine)
    throw BadData(name + ":" + std::to_string(number) + ": the line is longer than " +
                  std::to_string(kLongestLine >> 20) + " MiB; break it up");
}

void check_line(std::string_view line, const std::string& name, std::int64_t number) {
  check_length(line.size(), name, number);
  const std::size_t bad = find_invalid_utf8(line);
  if (bad == std::string_view::npos) return;
  throw BadData(name + ":" + std::to_string(number) + ": byte " + std::to_string(bad + 1) +
                " of the line is not UTF-8; convert the file (for example with iconv) or drop the line");
}

}  // namespace

Fd open_text(const std::filesystem::path& path) {
  try {
    return open_file(path, O_RDONLY);
  } catch (const std::system_error& error) {
    throw BadData(std::string("cannot read the text: ") + error.what());
  }
}

std::vector<std::filesystem::path> expand_globs(const std::vector<std::string>& patterns,
                                                const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const std::string& pattern : patterns) {
    const std::string full = (folder / pattern).string();
    glob_t found{};
    const int status = ::glob(full.c_str(), GLOB_ERR, nullptr, &found);
    for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    if (status == GLOB_NOMATCH) throw BadData("no text file matches " + full);
    if (status != 0) throw BadData("cannot list the folder of " + full + ": " + std::strerror(errno));
  }
  return files;
}

std::vector<std::filesystem::path> files_in_both(const std::vector<std::filesystem::path>& some,
                                                 const std::vector<std::filesystem::path>& others) {
  std::vector<std::filesystem::path> both;
  for (const std::filesystem::path& file : some) {
    const bool shared = std::ranges::any_of(others, [&](const std::filesystem::path& other) {
      std::error_code missing;  // which whoever reads the file will tell
      return std::filesystem::equivalent(file, other, missing);
    });
    if (shared) both.push_back(file);
  }
  return both;
}

void for_each_line(const std::filesystem::path& path,
                   const std::function<void(std::string_view line)>& sink) {
  for_each_line(open_text(path).get(), path.string(), sink);
}

void for_each_line(int file, const std::string& name, const std::function<void(std::string_view line)>& sink,
                   const std::function<void()>& before_read) {
  const auto read = [&](std::span<char> to) {
    if (before_read) before_read();
    return read_file_part(file, to, name);
  };
  for_each_line(read, name, sink);
}

void for_each_line(const ReadText& read, const std::string& name,
                   const std::function<void(std::string_view line)>& sink) {
  std::string buffer;
  std::int64_t number = 0;
  const auto take = [&](std::string_view line) {
    check_line(line, name, ++number);
    sink(line);
  };
  for (std::size_t searched = 0;; searched = buffer.size()) {
    if (!read_more(read, buffer)) break;
    const std::size_t last = std::string_view(buffer).substr(searched).rfind('\n');
    if (last != std::string_view::npos) {
      const std::size_t whole = searched + last + 1;
      for_each_line_in(std::string_view(buffer).substr(0, whole), take);
      buffer.erase(0, whole);
    }
    check_length(buffer.size(), name, number + 1);
  }
  if (!buffer.empty()) take(buffer);
}

void for_each_line_in(std::string_view text, const std::function<void(std::string_view line)>& sink) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    sink(line);
  }
}

}  // namespace podium
