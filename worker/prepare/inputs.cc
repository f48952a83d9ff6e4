#include "worker/prepare/inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <regex>
#include <unordered_set>

#include "worker/data/xxh3.h"
#include "worker/input/bad_data.h"
#include "worker/input/text_files.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

// Prepared data, or what an unfinished prepare has left: no text.
bool is_prepared(const fs::path& file) {
  const std::string name = file.filename().string(), ending = file.extension().string();
  if (name.ends_with(".part") || name.ends_with(".prepare.json")) return true;
  const auto has_beside = [&](const char* other) {
    return fs::exists(fs::path(file).replace_extension(other));
  };
  return ending == ".idx" ? has_beside(".bin")
                          : (ending == ".bin" || ending == ".json") && has_beside(".idx");
}

// `entered` holds the folders that have been looked through, whatever links lead there.
void add_files_below(const fs::path& folder, std::unordered_set<std::string>& entered,
                     std::vector<fs::path>& files) {
  if (!entered.insert(fs::canonical(folder).string()).second) return;
  std::error_code error;
  const auto check = [&](const fs::path& path) {
    if (error) throw BadData("cannot read " + path.string() + ": " + error.message());
  };
  auto entries = fs::directory_iterator(folder, error);
  check(folder);
  for (; entries != fs::directory_iterator(); entries.increment(error), check(folder)) {
    const fs::path& path = entries->path();
    if (path.filename().string().starts_with('.')) continue;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) error.clear();
    check(path);
    if (fs::is_directory(status)) {
      add_files_below(path, entered, files);
    } else if (fs::is_regular_file(status) && !is_prepared(path)) {
      files.push_back(path);
    }
  }
}

void add_folder(const fs::path& folder, std::vector<fs::path>& files) {
  const auto first = std::ssize(files);
  std::unordered_set<std::string> entered;
  add_files_below(folder, entered, files);
  if (std::ssize(files) == first) throw BadData("the folder " + folder.string() + " holds no text");
  std::sort(files.begin() + first, files.end());
}

struct stat look_at(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0)
    throw BadData("cannot read " + file.string() + ": " + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    throw BadData(file.string() + " is no regular file, as text must be to be read twice");
  return info;
}

// Of each file's name and the numbers that `numbers_of` takes from its stat().
std::string hash_of(const std::vector<fs::path>& files, const auto& numbers_of) {
  Xxh3 hash;
  for (const fs::path& file : files) {
    const auto numbers = numbers_of(look_at(file));
    const std::string name = file.string();
    hash.add(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
    hash.add(std::as_bytes(std::span(numbers)));
  }
  return hash.digest().xxh3;
}

// Whether `file` is what a run to `out` writes, or a run of one of its parts. A .json without its .idx is
// not: the report comes last.
bool is_output(const fs::path& file, const fs::path& out) {
  static const std::regex endings(
      R"((-\d+-of-\d+)?\.(bin|idx|json|prepare\.json|\w+\.part|(prepare\.)?json\.tmp\.\d+))");
  const std::string name = file.filename().string();
  const std::string begin = out.filename().string();
  if (!name.starts_with(begin) || !std::regex_match(name.substr(begin.size()), endings)) return false;
  if (fs::weakly_canonical(fs::absolute(file).parent_path()) !=
      fs::weakly_canonical(fs::absolute(out).parent_path()))
    return false;
  return file.extension() != ".json" || name.ends_with(".prepare.json") ||
         fs::exists(fs::path(file).replace_extension(".idx"));
}

}  // namespace

std::vector<fs::path> expand_inputs(const std::vector<std::string>& names, const fs::path& out) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& path) {
    if (fs::is_directory(path))
      add_folder(path, files);
    else
      files.push_back(path);
  };
  for (const std::string& name : names) {
    if (fs::exists(name)) {
      add(name);
    } else {
      for (const fs::path& found : expand_globs({name}, "")) add(found);
    }
  }
  std::erase_if(files, [&](const fs::path& file) { return is_output(file, out); });
  if (files.empty())
    throw BadData("nothing to prepare: the inputs hold only what was written to " + out.string() + " itself");
  for (const fs::path& file : files) look_at(file);
  std::unordered_set<std::string> seen;
  std::erase_if(files,
                [&](const fs::path& file) { return !seen.insert(fs::canonical(file).string()).second; });
  return files;
}

std::vector<fs::path> share_of(const std::vector<fs::path>& files, Part part) {
  const auto total = static_cast<double>(bytes_of(files));
  std::vector<fs::path> share;
  double before = 0;
  for (const fs::path& file : files) {
    const auto size = static_cast<double>(look_at(file).st_size);
    const double middle = total > 0 ? (before + size / 2) / total : 0;
    if (std::min(static_cast<int>(middle * part.count), part.count - 1) == part.number) share.push_back(file);
    before += size;
  }
  return share;
}

std::string identity_of(const std::vector<fs::path>& files) {
  return hash_of(files, [](const struct stat& info) {
    return std::array<std::int64_t, 3>{info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  });
}

std::string list_identity_of(const std::vector<fs::path>& files) {
  return hash_of(files, [](const struct stat& info) { return std::array<std::int64_t, 1>{info.st_size}; });
}

std::uint64_t bytes_of(const std::vector<fs::path>& files) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : files) bytes += static_cast<std::uint64_t>(look_at(file).st_size);
  return bytes;
}

}  // namespace podium
