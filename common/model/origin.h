// What a run's first weights are of: the checkpoint of another job that its spec names, and the one, or the
// Hugging Face folder, that its worker found.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/base/id.h"

namespace podium {

// Of another job's checkpoints: the best where that job keeps one, else the newest; or the one that is named.
enum class CheckpointChoice { best_or_newest, best, newest, step };

struct JobCheckpoint {
  JobId job;
  CheckpointChoice choice = CheckpointChoice::best_or_newest;
  std::int64_t step = 0;  // of CheckpointChoice::step

  bool operator==(const JobCheckpoint&) const = default;
};

// {"job": 12, "checkpoint": "best" | "newest" | 200}, without "checkpoint" for best_or_newest.
nlohmann::json to_json(const JobCheckpoint& checkpoint);
// Throws nlohmann::json::exception or std::invalid_argument.
JobCheckpoint job_checkpoint_from_json(const nlohmann::json& json);

// "job 12", or "the best checkpoint of job 12"
std::string describe(const JobCheckpoint& checkpoint);

struct Origin {
  std::string path;       // as the worker read it
  std::int64_t step = 0;  // 0: it is a Hugging Face folder
  // Of its manifest, which has the checksums of its files, or of the folder's files (worker/train/folder_origin.h);
  // "" where none is known.
  std::string xxh3;

  bool known() const { return !xxh3.empty(); }
  bool operator==(const Origin&) const = default;
};

// "step 200 of /shared/…/checkpoints/step-00000200 (XXH3 0123456789abcdef)"
std::string describe(const Origin& origin);

nlohmann::json to_json(const Origin& origin);
// Throws nlohmann::json::exception, or std::invalid_argument for what is no origin.
Origin origin_from_json(const nlohmann::json& json);

}  // namespace podium
