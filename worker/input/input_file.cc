#include "worker/input/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "worker/input/bad_data.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw BadData("cannot read " + path.string() + ": " + why);
}

}  // namespace

InputFile open_input(const std::filesystem::path& path) {
  InputFile input;
  try {
    input.file = open_file(path, O_RDONLY | O_NONBLOCK);  // a pipe would wait for whoever writes to it
  } catch (const std::system_error& error) {
    refuse(path, error.code().message());
  }
  struct stat info {};
  if (::fstat(input.file.get(), &info) != 0) refuse(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    refuse(path, std::string("it is ") + kind_of(info.st_mode) + "; data must be in regular files");
  input.bytes = static_cast<std::uint64_t>(info.st_size);
  return input;
}

std::string read_input(const std::filesystem::path& path) {
  open_input(path);
  try {
    return read_file(path);
  } catch (const std::system_error& error) {
    refuse(path, error.code().message());
  }
}

std::string read_utf8_input(const std::filesystem::path& path) {
  std::string text = read_input(path);
  const std::size_t bad = find_invalid_utf8(text);
  if (bad == std::string::npos) return text;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
  throw BadData(path.string() + ":" + std::to_string(line) + ": byte " + std::to_string(bad + 1) +
                " of the file is not UTF-8; convert the file (for example with iconv)");
}

}  // namespace podium
