#include "common/base/file_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr int kTreeFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

fs::path joined(const fs::path& root, const PathParts& parts) {
  fs::path path = root;
  for (const std::string& part : parts) path /= part;
  return path;
}

[[noreturn]] void tree_failure(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

// There is something of another kind, or nothing.
bool is_elsewhere(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

std::string version_of(const struct stat& status) {
  return std::to_string(status.st_ino) + "-" + std::to_string(status.st_size) + "-" +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

}  // namespace

std::optional<Fd> folder_below(const fs::path& root, const PathParts& parts) {
  Fd folder(::open(root.c_str(), kTreeFolder));
  if (!folder && !is_elsewhere(errno)) tree_failure("cannot open", root);
  if (!folder) return std::nullopt;
  for (const std::string& part : parts) {
    Fd next(::openat(folder.get(), part.c_str(), kTreeFolder));
    if (!next && !is_elsewhere(errno)) tree_failure("cannot open", root / part);
    if (!next) return std::nullopt;
    folder = std::move(next);
  }
  return folder;
}

std::optional<TreeEntry> entry_in(int folder, const char* name) {
  struct stat status {};
  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;  // it went meanwhile
  if (S_ISDIR(status.st_mode)) return TreeEntry{name, true, 0};
  if (S_ISREG(status.st_mode)) return TreeEntry{name, false, status.st_size};
  return std::nullopt;
}

std::vector<TreeEntry> list_below(const fs::path& root, const PathParts& parts) {
  std::optional<Fd> folder = folder_below(root, parts);
  if (!folder) return {};
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::fdopendir(folder->release()), ::closedir);
  if (!names) tree_failure("cannot list", joined(root, parts));
  std::vector<TreeEntry> entries;
  while (const dirent* next = ::readdir(names.get())) {
    const std::string_view name = next->d_name;
    if (name == "." || name == "..") continue;
    if (auto entry = entry_in(::dirfd(names.get()), next->d_name)) entries.push_back(std::move(*entry));
  }
  std::ranges::sort(entries, {}, &TreeEntry::name);
  return entries;
}

std::optional<TreeFile> open_below(const fs::path& root, const PathParts& parts) {
  if (parts.empty()) return std::nullopt;
  const std::optional<Fd> folder = folder_below(root, {parts.begin(), parts.end() - 1});
  if (!folder) return std::nullopt;
  // A pipe that somebody has put there must not be waited for.
  Fd fd(::openat(folder->get(), parts.back().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && !is_elsewhere(errno)) tree_failure("cannot open", joined(root, parts));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return TreeFile{std::move(fd), status.st_size, version_of(status)};
}

}  // namespace podium
