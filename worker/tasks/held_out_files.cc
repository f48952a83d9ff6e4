#include "worker/tasks/held_out_files.h"

#include <spdlog/fmt/fmt.h>

#include "worker/input/text_files.h"

namespace podium {

void warn_of_held_out_training(const std::vector<std::filesystem::path>& held_out,
                               const std::vector<std::filesystem::path>& training, Reading& reading) {
  const std::vector<std::filesystem::path> both = files_in_both(held_out, training);
  if (both.empty()) return;
  reading.warn(
      fmt::format("evaluate.data: {}{} also among data.train, so the job trains on it and eval/ metrics look "
                  "better than they are; keep held-out text where no pattern of data.train finds it",
                  both.front().string(),
                  both.size() == 1 ? " is" : fmt::format(" and {} more files are", both.size() - 1)));
}

}  // namespace podium
