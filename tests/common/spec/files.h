// The spec files the tests run over: schemas/cases and configs.
#pragma once

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/paths.h"

namespace podium::test {

inline std::vector<std::filesystem::path> yaml_files(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path(folder)))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace podium::test
