#include "common/model/origin.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/model/codec.h"
#include "common/model/hash_text.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<CheckpointChoice, 2> kChoices{
    {{CheckpointChoice::best, "best"}, {CheckpointChoice::newest, "newest"}}};

}  // namespace

json to_json(const JobCheckpoint& checkpoint) {
  json out{{"job", checkpoint.job.value}};
  if (checkpoint.choice == CheckpointChoice::step)
    out["checkpoint"] = checkpoint.step;
  else if (checkpoint.choice != CheckpointChoice::best_or_newest)
    out["checkpoint"] = enum_name(kChoices, checkpoint.choice);
  return out;
}

JobCheckpoint job_checkpoint_from_json(const json& in) {
  JobCheckpoint checkpoint{{in.at("job").get<std::int64_t>()}};
  const auto choice = in.find("checkpoint");
  if (choice == in.end()) return checkpoint;
  if (choice->is_number_integer()) {
    checkpoint.choice = CheckpointChoice::step;
    checkpoint.step = *choice;
  } else {
    checkpoint.choice = enum_value(kChoices, choice->get<std::string>(), "checkpoint");
  }
  return checkpoint;
}

std::string describe(const JobCheckpoint& checkpoint) {
  const std::string job = "job " + to_string(checkpoint.job);
  if (checkpoint.choice == CheckpointChoice::best_or_newest) return job;
  if (checkpoint.choice == CheckpointChoice::step)
    return "step " + std::to_string(checkpoint.step) + " of " + job;
  return "the " + std::string(enum_name(kChoices, checkpoint.choice)) + " checkpoint of " + job;
}

std::string describe(const Origin& origin) {
  const std::string step = origin.step > 0 ? "step " + std::to_string(origin.step) + " of " : "";
  return step + origin.path + " (XXH3 " + origin.xxh3 + ")";
}

json to_json(const Origin& origin) {
  return {{"path", origin.path}, {"step", origin.step}, {"xxh3", origin.xxh3}};
}

Origin origin_from_json(const json& in) {
  Origin origin{in.at("path"), in.at("step"), in.at("xxh3")};
  if (origin.step < 0 || !is_xxh3_text(origin.xxh3))
    throw std::invalid_argument(
        "\"origin\" is no checkpoint: it needs a path, a step and 16 hexadecimal digits");
  return origin;
}

}  // namespace podium
