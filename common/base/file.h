// Files, whole or not at all. Every failure throws std::system_error whose text names the file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace podium {

std::string read_file(const std::filesystem::path& path);

// Writes a temporary file beside `path`, fsyncs it, renames it over `path` and fsyncs the folder:
// a reader sees the old content or the new, also after a power cut. `mode` as for open(2).
void write_file_atomic(const std::filesystem::path& path, std::string_view content, int mode = 0644);

// Makes renames and creations inside `folder` durable.
void sync_folder(const std::filesystem::path& folder);

// `path` inside `root` once both are made absolute and free of "..": the guard for every path a client names.
bool is_inside(const std::filesystem::path& root, const std::filesystem::path& path);

// An owned file descriptor, closed at the end of its life.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();

 private:
  int fd_ = -1;
};

// open(2) with O_CLOEXEC.
Fd open_file(const std::filesystem::path& path, int flags, int mode = 0644);

// write(2) until all is written; `path` is only for the error text.
void write_all(int fd, std::string_view bytes, const std::filesystem::path& path);

}  // namespace podium
