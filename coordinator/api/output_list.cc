#include "coordinator/api/output_list.h"

#include <algorithm>
#include <charconv>

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDeepestOutput = 100;

// The folders whose names are numbers.
std::vector<std::int32_t> numbers_in(const fs::path& root, const PathParts& parts) {
  std::vector<std::int32_t> numbers;
  for (const TreeEntry& entry : list_below(root, parts)) {
    std::int32_t number = -1;
    std::from_chars(entry.name.data(), entry.name.data() + entry.name.size(), number);
    if (entry.is_folder && number >= 0 && std::to_string(number) == entry.name) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

struct OutputWalk {
  const fs::path& root;
  std::size_t most;
  OutputList& list;

  void add(std::int32_t rank, const PathParts& parts, const std::string& path) {
    for (const TreeEntry& entry : list_below(root, parts)) {
      if (list.more) return;
      const std::string below = path.empty() ? entry.name : path + "/" + entry.name;
      if (entry.is_folder) {
        PathParts next = parts;
        next.push_back(entry.name);
        if (next.size() < kDeepestOutput) add(rank, next, below);
      } else if (list.files.size() == most) {
        list.more = true;
      } else {
        list.files.push_back({rank, below, entry.bytes});
      }
    }
  }
};

// Whether a file lies below; `looked_at` bounds a tree of empty folders.
bool holds_file(const fs::path& root, const PathParts& parts, int& looked_at) {
  for (const TreeEntry& entry : list_below(root, parts)) {
    if (!entry.is_folder) return true;
    if (--looked_at < 0 || parts.size() > kDeepestOutput) return false;
    PathParts next = parts;
    next.push_back(entry.name);
    if (holds_file(root, next, looked_at)) return true;
  }
  return false;
}

// An attempt that failed at once hides no results of an earlier one.
std::int32_t newest_with_files(const fs::path& root, const PathParts& folder,
                               const std::vector<std::int32_t>& attempts) {
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
    PathParts parts = folder;
    parts.push_back(std::to_string(*attempt));
    int looked_at = 1000;
    if (holds_file(root, parts, looked_at)) return *attempt;
  }
  return attempts.back();
}

}  // namespace

OutputList list_outputs(const fs::path& shared, const PathParts& folder, std::optional<std::int32_t> attempt,
                        std::size_t most) {
  OutputList list;
  list.attempts = numbers_in(shared, folder);
  if (list.attempts.empty()) return list;
  list.attempt = attempt.value_or(newest_with_files(shared, folder, list.attempts));
  PathParts of_attempt = folder;
  of_attempt.push_back(std::to_string(list.attempt));
  list.ranks = numbers_in(shared, of_attempt);
  OutputWalk walk{shared, most, list};
  for (const std::int32_t rank : list.ranks) {
    PathParts of_rank = of_attempt;
    of_rank.push_back(std::to_string(rank));
    walk.add(rank, of_rank, "");
  }
  return list;
}

}  // namespace podium
