#include "coordinator/store/code_files.h"

#include <algorithm>
#include <vector>

#include "common/base/file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

struct CodeFile {
  fs::file_time_type used;
  fs::path path;
  std::int64_t bytes = 0;

  auto operator<=>(const CodeFile&) const = default;
};

std::vector<CodeFile> longest_unused_first(const fs::path& folder) {
  std::vector<CodeFile> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files.push_back({entry.last_write_time(), entry.path(), static_cast<std::int64_t>(entry.file_size())});
  std::ranges::sort(files);
  return files;
}

bool make_room(const fs::path& folder, std::int64_t bytes, std::int64_t most,
               const std::function<std::set<std::string>()>& in_use) {
  std::vector<CodeFile> files = longest_unused_first(folder);
  std::int64_t held = bytes;
  for (const CodeFile& file : files) held += file.bytes;
  if (held <= most) return true;
  const std::set<std::string> needed = in_use();
  for (const CodeFile& file : files) {
    if (held <= most) break;
    if (needed.contains(file.path.filename())) continue;
    fs::remove(file.path);
    held -= file.bytes;
  }
  return held <= most;
}

}  // namespace

bool has_code(const fs::path& folder, const std::string& sha256) { return fs::exists(folder / sha256); }

bool keep_code(const fs::path& folder, const std::string& sha256, std::string_view packed,
               const std::function<std::set<std::string>()>& in_use, std::int64_t most) {
  fs::create_directories(folder);
  const fs::path path = folder / sha256;
  if (fs::exists(path)) {
    fs::last_write_time(path, fs::file_time_type::clock::now());
    return true;
  }
  if (!make_room(folder, std::ssize(packed), most, in_use)) return false;
  write_file_atomic(path, packed, 0600);
  return true;
}

}  // namespace podium
