#include "worker/data/data_files.h"

#include <algorithm>

#include "worker/input/bad_data.h"
#include "worker/input/text_files.h"

namespace podium {

namespace fs = std::filesystem;

namespace {

// NAME.json beside NAME.idx, which podium-worker prepare writes.
bool is_report(const fs::path& file) {
  return file.extension() == ".json" && fs::exists(fs::path(file).replace_extension(".idx"));
}

// What podium-worker prepare leaves until it is through; read as text it would be trained on.
void refuse_unfinished(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.ends_with(".part") || name.ends_with(".prepare.json"))
    throw BadData(file.string() + " is of an unfinished prepare; finish or remove it");
}

}  // namespace

std::vector<fs::path> data_files(const std::vector<std::string>& patterns, const fs::path& folder) {
  std::vector<fs::path> files;
  const auto add = [&](fs::path file) {
    refuse_unfinished(file);
    if (file.extension() == ".idx") file.replace_extension(".bin");
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(std::move(file));
  };
  for (const std::string& pattern : patterns) {
    const fs::path index = folder / (pattern + ".idx");
    if (fs::exists(index)) {
      add(index);
    } else {
      for (fs::path& file : expand_globs({pattern}, folder))
        if (!is_report(file)) add(std::move(file));
    }
  }
  return files;
}

}  // namespace podium
