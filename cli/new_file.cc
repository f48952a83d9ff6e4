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

[[noreturn]] void fail(int error, const std::string& doing) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
  throw Failure(full ? Exit::output : Exit::usage,
                fmt::format("{}: {}", doing, std::generic_category().message(error)));
}

// What mkstemp and mkdtemp make a name of, no longer than names may be.
std::string partial_name(const fs::path& path) {
  constexpr std::size_t kKept = 64;
  return (path.parent_path() / fmt::format(".{}.XXXXXX", path.filename().string().substr(0, kKept))).string();
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
  if (!::mkdtemp(name.data())) fail(errno, "cannot make " + name);
  fs::permissions(name, static_cast<fs::perms>(0777 & ~file_mask()));
  return name;
}

void move_to_free(const fs::path& from, const fs::path& to) {
  const fs::path folder = to.has_parent_path() ? to.parent_path() : fs::path(".");
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return sync_folder(folder);
  const int error = errno;
  if (error == EEXIST) throw taken(to);
  if (error != EINVAL) fail(error, "cannot make " + to.string());
  require_free(to);  // a file system without that flag, such as NFS
  fs::rename(from, to);
  sync_folder(folder);
}

MadeFolder::MadeFolder(const fs::path& path) {
  for (fs::path at = fs::absolute(path).lexically_normal(); !fs::exists(at); at = at.parent_path())
    if (at.has_filename()) made_.insert(made_.begin(), at);
  for (const fs::path& folder : made_)
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
      const int error = errno;
      remove();
      fail(error, "cannot make the folder " + folder.string());
    }
}

void MadeFolder::remove() {
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder)
    if (::rmdir(folder->c_str()) != 0 && errno != ENOENT) return;
}

NewFile::NewFile(fs::path path) : path_(std::move(path)), file_(nullptr, std::fclose) {
  require_free(path_);
  std::string name = partial_name(path_);
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) fail(errno, "cannot make " + name);
  partial_ = name;
  file_.reset(::fdopen(file, "wb"));
  if (!file_ || ::fchmod(file, 0666 & ~file_mask()) != 0) {
    const int error = errno;
    ::unlink(name.c_str());
    fail(error, "cannot make " + name);
  }
  std::setvbuf(file_.get(), nullptr, _IOFBF, 1 << 20);
}

NewFile::~NewFile() {
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

void NewFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
    fail(errno, "cannot write " + partial_.string());
}

void NewFile::finish() {
  if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0)
    fail(errno, "cannot write " + partial_.string());
  file_.reset();
  move_to_free(partial_, path_);
  partial_.clear();
}

}  // namespace podium::cli
