#include "worker/train/folder_origin.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "worker/data/failure.h"
#include "worker/formats/hashed_file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

// Shapes, tokenizers and weights; a folder may hold the weights in forms that nobody here reads, too.
bool is_read(const fs::path& file) {
  constexpr std::array<std::string_view, 3> kRead{".json", ".txt", ".safetensors"};
  return std::ranges::find(kRead, file.extension().string()) != kRead.end();
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && is_read(entry.path())) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace

Origin folder_origin(const fs::path& folder) {
  Xxh3 all;
  try {
    for (const fs::path& file : files_of(folder)) {
      const FileDigest digest = digest_of(file);
      const std::string line =
          fmt::format("{}\t{}\t{}\n", file.filename().string(), digest.bytes, digest.xxh3);
      all.add(std::as_bytes(std::span(line)));
    }
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full, fmt::format("cannot read {}: {}", folder.string(), error.what()));
  }
  return {folder.string(), 0, all.digest().xxh3};
}

}  // namespace podium
