#include "cli/new_file.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "cli/failure.h"

namespace podium::cli {

namespace fs = std::filesystem;

namespace {

Failure taken(const fs::path& path) {
  return {Exit::usage,
          fmt::format("{} exists, and nothing is overwritten; --out names another place, or move it away",
                      path.string())};
}

}  // namespace

void require_free(const fs::path& path) {
  if (fs::exists(fs::symlink_status(path))) throw taken(path);
}

void move_to_free(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  const int error = errno;
  if (error == EEXIST) throw taken(to);
  if (error != EINVAL) throw std::system_error(error, std::generic_category(), "cannot make " + to.string());
  require_free(to);  // a file system without that flag, such as NFS
  fs::rename(from, to);
}

NewFile::NewFile(fs::path path)
    : path_(std::move(path)),
      partial_(path_.parent_path() / fmt::format(".{}.{}.partial", path_.filename().string(), ::getpid())),
      file_(nullptr, std::fclose) {
  require_free(path_);
  file_.reset(std::fopen(partial_.c_str(), "wbe"));
  if (!file_) fail("cannot make");
  std::setvbuf(file_.get(), nullptr, _IOFBF, 1 << 20);
}

NewFile::~NewFile() {
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

void NewFile::fail(const char* what) const {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + partial_.string());
}

void NewFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail("cannot write");
}

void NewFile::finish() {
  if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0) fail("cannot write");
  file_.reset();
  move_to_free(partial_, path_);
  partial_.clear();
}

}  // namespace podium::cli
