#include "worker/tasks/training_files.h"

#include <spdlog/fmt/fmt.h>

#include "common/model/data_path.h"
#include "worker/data/data_files.h"
#include "worker/data/failure.h"

namespace podium {

std::vector<std::filesystem::path> TrainingFiles::all() const {
  std::vector<std::filesystem::path> files;
  for (const auto& set : sets) files.insert(files.end(), set.begin(), set.end());
  return files;
}

TrainingFiles training_files(const DataSpec& data, const std::filesystem::path& data_folder) {
  if (data.weights.empty()) return {{data_files(data.train, data_folder)}, {1.0}};
  if (data.weights.size() > kMostBlended)
    refuse_spec(fmt::format("data.train blends {} entries; at most {} may have a weight", data.weights.size(),
                            kMostBlended));
  for (const double weight : data.weights)
    if (!(weight > 0)) refuse_spec("data.train is blended by weights above 0");
  TrainingFiles files{{}, data.weights};
  for (const std::string& pattern : data.train) files.sets.push_back(data_files({pattern}, data_folder));
  return files;
}

}  // namespace podium
