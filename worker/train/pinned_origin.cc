#include "worker/train/pinned_origin.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/file.h"
#include "worker/checkpoint/search.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

// "" where there is none.
std::string own_text(const fs::path& file) {
  try {
    return fs::exists(file) ? read_file(file) : "";
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full,
                  "cannot read which weights this run began with: " + std::string(error.what()));
  }
}

}  // namespace

std::optional<Origin> pinned_origin(const fs::path& folder, Communicator& world) {
  const fs::path file = folder / kOriginName;
  const std::string text = shared_text(world, 0, world.rank() == 0 ? own_text(file) : "");
  if (text.empty()) return std::nullopt;
  try {
    return origin_from_json(nlohmann::json::parse(text));
  } catch (const std::exception& error) {
    throw Failure(WorkerExit::bad_data,
                  fmt::format("{} does not tell which weights this run began with: {}; bring it back as it "
                              "was, or delete it to choose the first weights anew",
                              file.string(), error.what()));
  }
}

void pin_origin(const fs::path& folder, const Origin& origin) {
  try {
    write_file_atomic(folder / kOriginName, to_json(origin).dump(1) + "\n");
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full,
                  "cannot write down which weights this run begins with: " + std::string(error.what()));
  }
}

}  // namespace podium
