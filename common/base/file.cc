#include "common/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace podium {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

int Fd::release() { return std::exchange(fd_, -1); }

Fd open_file(const std::filesystem::path& path, int flags, int mode) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) fail("cannot open", path);
  return Fd(fd);
}

void write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_file(const std::filesystem::path& path) {
  const Fd fd = open_file(path, O_RDONLY);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail("cannot stat", path);
  std::string content;
  content.resize(static_cast<std::size_t>(status.st_size));
  std::size_t used = 0;
  while (true) {
    if (used == content.size()) content.resize(content.size() + 4096);  // /proc files report size 0
    const ssize_t count = ::read(fd.get(), content.data() + used, content.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot read", path);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  content.resize(used);
  return content;
}

void sync_folder(const std::filesystem::path& folder) {
  const Fd fd = open_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (::fsync(fd.get()) != 0) fail("cannot sync", folder);
}

void write_file_atomic(const std::filesystem::path& path, std::string_view content, int mode) {
  std::filesystem::path temporary = path;
  temporary += ".tmp." + std::to_string(::gettid());  // of its own, for two threads may write one file
  try {
    const Fd fd = open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC, mode);
    write_all(fd.get(), content, temporary);
    if (::fsync(fd.get()) != 0) fail("cannot sync", temporary);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail("cannot rename into place", path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(path.parent_path());
}

bool is_inside(const std::filesystem::path& root, const std::filesystem::path& path) {
  const auto base = std::filesystem::weakly_canonical(root);
  const auto full = std::filesystem::weakly_canonical(path);
  const auto [base_end, _] = std::mismatch(base.begin(), base.end(), full.begin(), full.end());
  return base_end == base.end();
}

}  // namespace podium
