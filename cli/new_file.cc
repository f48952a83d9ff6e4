#include "cli/new_file.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "cli/failure.h"
#include "common/base/file.h"

namespace podium::cli {

namespace fs = std::filesystem;

namespace {

Failure taken(const fs::path& path) {
  return {Exit::usage,
          fmt::format("{} exists, and nothing is overwritten; --out names another place, or move it away",
                      path.string())};
}

// What mkstemp and mkdtemp make a name of.
std::string partial_name(const fs::path& path) {
  return (path.parent_path() / fmt::format(".{}.XXXXXX", path.filename().string())).string();
}

mode_t file_mask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

}  // namespace

void require_free(const fs::path& path) {
  if (fs::exists(fs::symlink_status(path))) throw taken(path);
}

fs::path new_folder_beside(const fs::path& path) {
  std::string name = partial_name(path);
  if (!::mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), "cannot make " + name);
  fs::permissions(name, static_cast<fs::perms>(0777 & ~file_mask()));
  return name;
}

void move_to_free(const fs::path& from, const fs::path& to) {
  const fs::path folder = to.has_parent_path() ? to.parent_path() : fs::path(".");
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return sync_folder(folder);
  const int error = errno;
  if (error == EEXIST) throw taken(to);
  if (error != EINVAL) throw std::system_error(error, std::generic_category(), "cannot make " + to.string());
  require_free(to);  // a file system without that flag, such as NFS
  fs::rename(from, to);
  sync_folder(folder);
}

NewFile::NewFile(fs::path path) : path_(std::move(path)), file_(nullptr, std::fclose) {
  require_free(path_);
  std::string name = partial_name(path_);
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "cannot make " + name);
  partial_ = name;
  file_.reset(::fdopen(file, "wb"));
  if (!file_ || ::fchmod(file, 0666 & ~file_mask()) != 0) {
    const int error = errno;
    ::unlink(name.c_str());
    throw std::system_error(error, std::generic_category(), "cannot make " + name);
  }
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
