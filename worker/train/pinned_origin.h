// origin.json in a run's checkpoint folder: the checkpoint, or the Hugging Face folder, that the run's first
// weights are of, written down before its first step. Until the run has a checkpoint of its own, each of its
// attempts begins with exactly these weights, whatever has become the best or the newest where they come
// from.
#pragma once

#include <filesystem>
#include <optional>

#include "common/model/origin.h"
#include "worker/comm/communicator.h"

namespace podium {

inline constexpr char kOriginName[] = "origin.json";

// What an earlier attempt began with, as rank 0 reads it; nothing where none has come so far. Collective.
// Throws Failure: bad_data if the file is not what it should be, disk_full if it cannot be read.
std::optional<Origin> pinned_origin(const std::filesystem::path& folder, Communicator& world);

// For rank 0. Throws Failure(disk_full).
void pin_origin(const std::filesystem::path& folder, const Origin& origin);

}  // namespace podium
