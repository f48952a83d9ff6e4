#include "agent/process/file_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "common/base/file.h"

namespace podium {
namespace {

constexpr int kReads = O_RDONLY | O_CLOEXEC | O_NONBLOCK;  // a program may put a pipe in a file's place

}  // namespace

std::optional<std::string> read_regular_file(const std::filesystem::path& path, std::size_t most) {
  const Fd fd(::open(path.c_str(), kReads | O_NOFOLLOW));
  struct stat file {};
  if (!fd || ::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) return std::nullopt;
  if (file.st_size > static_cast<std::int64_t>(most)) return std::nullopt;
  return read_range(path, 0, most);
}

std::string read_range(const std::filesystem::path& path, std::int64_t offset, std::size_t limit) {
  const Fd fd(::open(path.c_str(), kReads));
  if (!fd && errno == ENOENT) return "";
  if (!fd) throw std::system_error(errno, std::generic_category(), "cannot open " + path.string());
  std::string text(limit, '\0');
  std::size_t used = 0;
  while (used < limit) {
    const ssize_t count = ::pread(fd.get(), text.data() + used, limit - used,
                                  static_cast<off_t>(offset) + static_cast<off_t>(used));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "cannot read " + path.string());
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  text.resize(used);
  return text;
}

DataRange next_data(const std::filesystem::path& path, std::int64_t offset) {
  const Fd fd(::open(path.c_str(), kReads));
  if (!fd && errno == ENOENT) return {offset, offset};
  if (!fd) throw std::system_error(errno, std::generic_category(), "cannot open " + path.string());
  const off_t size = std::max<off_t>(offset, ::lseek(fd.get(), 0, SEEK_END));
  const off_t begin = ::lseek(fd.get(), offset, SEEK_DATA);
  if (begin < 0) return errno == ENXIO ? DataRange{size, size} : DataRange{offset, size};
  return {begin, ::lseek(fd.get(), begin, SEEK_HOLE)};
}

void free_range(const std::filesystem::path& path, std::int64_t begin, std::int64_t end) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd && (errno == ENXIO || errno == EISDIR)) return;  // a pipe or a folder in its place takes no room
  if (!fd) throw std::system_error(errno, std::generic_category(), "cannot open " + path.string());
  if (::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, end - begin) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot free a part of " + path.string());
}

void keep_whole_lines(std::string& text, std::size_t limit) {
  const std::size_t end = text.rfind('\n');
  if (end != std::string::npos)
    text.resize(end + 1);
  else if (text.size() < limit)
    text.clear();
}

}  // namespace podium
