#include "common/net/code_snapshot.h"

#include <algorithm>
#include <stdexcept>

#include "common/base/file.h"
#include "common/net/zstd.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestNamed = 5;
constexpr int kZstdLevel = 9;

std::string megabytes(std::size_t bytes) {
  const std::size_t tenths = (bytes * 10 + (1 << 19)) >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

// ", the largest are data/train.bin (80.1 MiB), …"
std::string largest(const std::vector<std::pair<std::size_t, std::string>>& sizes) {
  auto sorted = sizes;
  std::ranges::sort(sorted, std::greater<>());
  std::string text = "; the largest files are ";
  for (std::size_t i = 0; i < std::min(sorted.size(), kLargestNamed); ++i)
    text += (i == 0 ? "" : ", ") + sorted[i].second + " (" + megabytes(sorted[i].first) + ")";
  return text;
}

Error too_large(const std::string& where, const std::string& what, std::size_t bytes, std::size_t most,
                const std::vector<std::pair<std::size_t, std::string>>& sizes) {
  return {ErrorCode::too_large,
          "the code has " + megabytes(bytes) + what + ", and " + megabytes(most) + " is the most" +
              largest(sizes) + "; keep data where the nodes find it, and name the folder of the code alone",
          where};
}

bool is_left_out(const fs::path& name) { return name == ".git" || name == "__pycache__"; }

TarEntry entry_of(const fs::directory_entry& found, std::string name) {
  TarEntry entry{std::move(name), TarEntry::Kind::file, false, ""};
  if (found.is_symlink()) {
    entry.kind = TarEntry::Kind::link;
    entry.content = fs::read_symlink(found.path());
  } else if (found.is_directory()) {
    entry.kind = TarEntry::Kind::folder;
  } else {
    entry.executable = (found.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
  }
  return entry;
}

// Sizes are added up before anything is read: a data set may lie there by mistake.
Result<CodeSnapshot> pack_folder(const fs::path& folder, const std::string& where) {
  std::vector<TarEntry> entries;
  std::vector<std::pair<std::size_t, std::string>> sizes;
  std::size_t bytes = 0;
  for (auto at = fs::recursive_directory_iterator(folder); at != fs::recursive_directory_iterator(); ++at) {
    if (is_left_out(at->path().filename())) {
      at.disable_recursion_pending();
      continue;
    }
    const bool plain = at->is_symlink() || at->is_directory() || at->is_regular_file();
    if (!plain)
      return Error{ErrorCode::invalid,
                   "code.folder: " + at->path().string() + " is no file, folder or symbolic link", where};
    entries.push_back(entry_of(*at, at->path().lexically_relative(folder).generic_string()));
    if (entries.back().kind != TarEntry::Kind::file) continue;
    sizes.emplace_back(at->file_size(), entries.back().name);
    bytes += sizes.back().first;
  }
  if (bytes > kMostCodeBytes) return too_large(where, "", bytes, kMostCodeBytes, sizes);
  for (TarEntry& entry : entries)
    if (entry.kind == TarEntry::Kind::file) entry.content = read_file(folder / entry.name);
  return pack_code(std::move(entries), where);
}

std::string tar_in(std::string_view packed) {
  constexpr std::size_t kHeaders = 16 << 20;
  Result<std::string> tar = zstd_decompress(packed, kMostCodeBytes + kHeaders);
  if (!tar) throw std::invalid_argument("the code cannot be unpacked: " + describe(tar.errors()));
  return std::move(*tar);
}

}  // namespace

Result<CodeSnapshot> pack_code(std::vector<TarEntry> entries, const std::string& where) {
  std::vector<std::pair<std::size_t, std::string>> sizes;
  std::size_t bytes = 0;
  for (const TarEntry& entry : entries) {
    sizes.emplace_back(entry.content.size(), entry.name);
    bytes += entry.content.size();
  }
  if (bytes > kMostCodeBytes) return too_large(where, "", bytes, kMostCodeBytes, sizes);
  CodeSnapshot snapshot;
  try {
    snapshot.packed = zstd_compress(tar_of(std::move(entries)), kZstdLevel);
  } catch (const std::invalid_argument& error) {
    return Error{ErrorCode::invalid, error.what(), where};
  }
  if (snapshot.packed.size() > kMostPackedCode)
    return too_large(where, " when packed", snapshot.packed.size(), kMostPackedCode, sizes);
  snapshot.sha256 = sha256_of(snapshot.packed);
  return snapshot;
}

Result<CodeSnapshot> pack_code_folder(const fs::path& folder, const std::string& where) try {
  if (!fs::is_directory(folder))
    return Error{ErrorCode::invalid,
                 "code.folder: " + folder.string() + " is no folder; name the one that the program is in",
                 where};
  return pack_folder(folder, where);
} catch (const std::system_error& error) {
  return Error{ErrorCode::invalid,
               std::string("code.folder cannot be read: ") + error.what() + "; name a folder of code alone",
               where};
}

std::vector<TarEntry> read_code(std::string_view packed) { return read_tar(tar_in(packed)); }

void unpack_code(std::string_view packed, const std::string& sha256, const fs::path& folder) {
  if (sha256_of(packed) != sha256) throw std::invalid_argument("the code is not what its hash says");
  unpack_tar(tar_in(packed), folder);
}

}  // namespace podium
