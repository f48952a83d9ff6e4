#include "coordinator/mlflow/artifact_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace podium::mlflow {
namespace {

namespace fs = std::filesystem;

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

[[noreturn]] void artifact_failure(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

void sync_file(const Fd& fd, const fs::path& path) {
  if (::fsync(fd.get()) != 0) artifact_failure("cannot sync", path);
}

// Makes the missing parts; `changed` are the folders that got one. Nothing where a part is no folder.
std::optional<Fd> make_folder_at(const fs::path& root, const std::vector<std::string>& parts,
                                 std::vector<Fd>& changed) {
  Fd folder = open_file(root, kFolder);
  for (const std::string& part : parts) {
    const bool made = ::mkdirat(folder.get(), part.c_str(), 0700) == 0;
    if (!made && errno != EEXIST) artifact_failure("cannot make", root / part);
    Fd next(::openat(folder.get(), part.c_str(), kFolder));
    if (!next && errno != ENOTDIR && errno != ELOOP) artifact_failure("cannot open", root / part);
    if (!next) return std::nullopt;
    if (made) changed.push_back(std::move(folder));
    folder = std::move(next);
  }
  return folder;
}

// The run's folder and the folders of the path, without its last part.
std::vector<std::string> above(JobId run, const ArtifactFiles::Parts& path) {
  std::vector<std::string> parts;
  if (path.empty()) return parts;
  parts.push_back(to_string(run));
  parts.insert(parts.end(), path.begin(), path.end() - 1);
  return parts;
}

std::vector<std::string> all_of(JobId run, const ArtifactFiles::Parts& path) {
  std::vector<std::string> parts{to_string(run)};
  parts.insert(parts.end(), path.begin(), path.end());
  return parts;
}

std::string joined(const ArtifactFiles::Parts& path) {
  std::string text;
  for (const std::string& part : path) text += (text.empty() ? "" : "/") + part;
  return text;
}

std::int64_t size_of(const Fd& fd) {
  struct stat status {};
  return ::fstat(fd.get(), &status) == 0 ? status.st_size : 0;
}

}  // namespace

ArtifactUpload::ArtifactUpload(fs::path path)
    : path_(std::move(path)), fd_(open_file(path_, O_WRONLY | O_CREAT | O_EXCL, 0600)) {}

ArtifactUpload::~ArtifactUpload() {
  if (fd_) ::unlink(path_.c_str());
}

void ArtifactUpload::write(std::string_view bytes) { write_all(fd_.get(), bytes, path_); }

ArtifactFiles::ArtifactFiles(fs::path folder, ArtifactRoom room)
    : folder_(std::move(folder)), runs_(folder_ / "runs"), uploads_(folder_ / "uploads"), room_(room) {
  fs::remove_all(uploads_);
  for (const fs::path& made : {folder_, runs_, uploads_}) {
    fs::create_directories(made);
    fs::permissions(made, fs::perms::owner_all);
  }
}

fs::path ArtifactFiles::new_upload() { return uploads_ / std::to_string(next_++); }

// Counted once, and kept from then on.
ArtifactRoom& ArtifactFiles::used_by(JobId run) {
  constexpr std::size_t kMostKept = 1000;
  if (used_.size() > kMostKept) used_.clear();
  const auto [used, is_new] = used_.try_emplace(run, ArtifactRoom{0, 0});
  std::error_code gone;
  if (is_new)
    for (const auto& entry : fs::recursive_directory_iterator(runs_ / to_string(run), gone))
      if (entry.symlink_status().type() == fs::file_type::regular) {
        ++used->second.files;
        used->second.bytes += static_cast<std::int64_t>(entry.file_size());
      }
  return used->second;
}

std::optional<Error> ArtifactFiles::place(ArtifactUpload& upload, JobId run, const Parts& path) {
  const auto in_the_way = [&](const std::string& what) {
    return Error{ErrorCode::invalid, "the artifact \"" + joined(path) + "\" cannot be kept: " + what, ""};
  };
  if (path.empty()) return in_the_way("its path is that of the run's folder");
  sync_file(upload.fd_, upload.path_);
  std::vector<Fd> changed;
  {
    const std::lock_guard lock(mutex_);
    std::optional<Fd> folder = make_folder_at(runs_, above(run, path), changed);
    if (!folder) return in_the_way("a part of its path is a file, not a folder");
    ArtifactRoom& used = used_by(run);
    const std::optional<TreeEntry> before = entry_in(folder->get(), path.back().c_str());
    const bool replaces = before && !before->is_folder;
    const ArtifactRoom after{used.bytes + size_of(upload.fd_) - (replaces ? before->bytes : 0),
                             used.files + (replaces ? 0 : 1)};
    if (after.bytes > room_.bytes)
      return in_the_way("the artifacts of a run have " + std::to_string(room_.bytes) + " bytes at most");
    if (after.files > room_.files)
      return in_the_way("a run has " + std::to_string(room_.files) + " artifacts at most");
    if (::renameat(AT_FDCWD, upload.path_.c_str(), folder->get(), path.back().c_str()) != 0) {
      if (errno == EISDIR) return in_the_way("there is a folder of that path");
      artifact_failure("cannot rename into place", upload.path_);
    }
    used = after;
    changed.push_back(std::move(*folder));
  }
  upload.fd_ = Fd();
  for (const Fd& folder : changed) sync_file(folder, runs_);
  return std::nullopt;
}

std::vector<TreeEntry> ArtifactFiles::list(JobId run, const Parts& path) const {
  return list_below(runs_, all_of(run, path));
}

std::optional<TreeFile> ArtifactFiles::open(JobId run, const Parts& path) const {
  if (path.empty()) return std::nullopt;
  return open_below(runs_, all_of(run, path));
}

bool ArtifactFiles::remove(JobId run, const Parts& path) {
  const std::string name = path.empty() ? to_string(run) : path.back();
  const fs::path aside = new_upload();
  {
    const std::lock_guard lock(mutex_);
    const std::optional<Fd> folder = folder_below(runs_, above(run, path));
    if (!folder) return false;
    if (::renameat(folder->get(), name.c_str(), AT_FDCWD, aside.c_str()) != 0) {
      if (errno == ENOENT) return false;
      artifact_failure("cannot remove", runs_ / joined(path));
    }
    used_.erase(run);
    sync_file(*folder, runs_);
  }
  fs::remove_all(aside);
  return true;
}

}  // namespace podium::mlflow
