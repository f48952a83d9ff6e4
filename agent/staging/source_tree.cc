#include "agent/staging/source_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "common/base/file.h"
#include "common/base/sync_files.h"
#include "common/net/sha256.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCopiedAtOnce = 1 << 20;

using FileNumber = std::pair<dev_t, ino_t>;

[[noreturn]] void source_failure(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

class SourceScan {
 public:
  SourceScan(const fs::path& source, StagingProgress& progress, const std::stop_token& stop)
      : source_(source), progress_(progress), stop_(stop) {}

  std::vector<SourceEntry> run() && {
    add("");
    return std::move(entries_);
  }

 private:
  fs::path full(const std::string& path) const { return path.empty() ? source_ : source_ / path; }

  struct stat status_of(const std::string& path) const {
    struct stat status {};
    if (::stat(full(path).c_str(), &status) == 0) return status;
    if (errno == ENOENT || errno == ENOTDIR)
      throw StagingFailure(ExitCause::cannot_run, path.empty()
                                                      ? "there is no " + source_.string() + " on it"
                                                      : "the link " + full(path).string() +
                                                            " leads to nothing; remove it or mend it");
    if (errno == EACCES || errno == EPERM)
      throw StagingFailure(ExitCause::cannot_run,
                           "its agent may not read " + full(path).string() + "; grant its user that");
    if (errno == ELOOP)
      throw StagingFailure(ExitCause::refused, full(path).string() + " is a link in a circle");
    source_failure("cannot read", full(path));
  }

  void add(const std::string& path) {
    note_step(progress_, stop_);
    if (entries_.size() >= kMostStagedFiles)
      throw StagingFailure(ExitCause::refused, source_.string() + " holds more than " +
                                                   std::to_string(kMostStagedFiles) +
                                                   " files; pack them into few");
    const struct stat status = status_of(path);
    SourceEntry entry{path, S_ISDIR(status.st_mode), (status.st_mode & S_IXUSR) != 0, status.st_size,
                      status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec};
    if (!entry.is_folder && !S_ISREG(status.st_mode))
      throw StagingFailure(ExitCause::refused, full(path).string() + " is neither a file nor a folder");
    if (entry.is_folder) entry.bytes = entry.modified = 0;
    entries_.push_back(entry);
    if (entry.is_folder) add_content(path, {status.st_dev, status.st_ino});
  }

  void add_content(const std::string& path, FileNumber folder) {
    if (std::ranges::find(above_, folder) != above_.end())
      throw StagingFailure(ExitCause::refused,
                           full(path).string() + " is a link to a folder that it lies in, without an end");
    above_.push_back(folder);
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(full(path))) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    for (const std::string& name : names) add(path.empty() ? name : path + "/" + name);
    above_.pop_back();
  }

  const fs::path& source_;
  StagingProgress& progress_;
  const std::stop_token& stop_;
  std::vector<FileNumber> above_;  // the folders around
  std::vector<SourceEntry> entries_;
};

// Returns its hash where that is asked for.
std::string copy_file(const fs::path& from, const fs::path& to, const SourceEntry& entry, bool hashed,
                      StagingProgress& progress, const std::stop_token& stop) {
  const Fd in = open_file(from, O_RDONLY | O_NONBLOCK);  // a pipe that took its place is not waited for
  struct stat status {};
  if (::fstat(in.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw StagingFailure(ExitCause::cannot_run, from.string() + " changes while it is copied");
  const Fd out = open_file(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
  Sha256 hash;
  std::string piece(kCopiedAtOnce, '\0');
  for (std::int64_t left = entry.bytes;;) {
    note_step(progress, stop);
    const ssize_t count = ::read(in.get(), piece.data(), piece.size());
    if (count < 0) source_failure("cannot read", from);
    if (count == 0) break;
    left -= count;
    if (left < 0) break;  // it grows: the next look finds that it changed
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(count));
    write_all(out.get(), bytes, to);
    if (hashed) hash.update(bytes);
    progress.bytes += count;
  }
  if (::fchmod(out.get(), entry.executable ? 0555 : 0444) != 0) source_failure("cannot write", to);
  return hashed ? hash.hex() : "";
}

}  // namespace

std::vector<SourceEntry> scan_source(const fs::path& source, StagingProgress& progress,
                                     const std::stop_token& stop) {
  return SourceScan(source, progress, stop).run();
}

std::int64_t bytes_of(const std::vector<SourceEntry>& entries) {
  std::int64_t bytes = 0;
  for (const SourceEntry& entry : entries) bytes += entry.bytes;
  return bytes;
}

std::string digest_of(const std::vector<SourceEntry>& entries, const std::string& label) {
  Sha256 hash;
  const auto add = [&hash](const std::string& text) { hash.update({text.c_str(), text.size() + 1}); };
  add(label);
  for (const SourceEntry& entry : entries) {
    add(entry.path);
    add((entry.is_folder ? "folder " : "file ") + std::to_string(entry.bytes) + " " +
        std::to_string(entry.modified));
  }
  return hash.hex();
}

std::string copy_source(const fs::path& source, const std::vector<SourceEntry>& entries, const fs::path& to,
                        StagingProgress& progress, const std::stop_token& stop) {
  const bool is_file = entries.size() == 1 && !entries.front().is_folder;
  std::string hash;
  for (const SourceEntry& entry : entries) {
    note_step(progress, stop);
    const fs::path target = entry.path.empty() ? to : to / entry.path;
    if (entry.is_folder)
      fs::create_directory(target);
    else
      hash = copy_file(entry.path.empty() ? source : source / entry.path, target, entry, is_file, progress,
                       stop);
  }
  std::vector<fs::path> copies;
  for (const SourceEntry& entry : entries)
    if (!entry.is_folder) copies.push_back(entry.path.empty() ? to : to / entry.path);
  sync_files(copies, [&] { note_step(progress, stop); });
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    if (entry->is_folder) fs::permissions(entry->path.empty() ? to : to / entry->path, fs::perms(0555));
  return hash;
}

}  // namespace podium
