// The scheduler's objections to the jobs of a spec, reported as mistakes of the spec: each with its line, and
// only once where many jobs of a study share it.
#pragma once

#include <optional>
#include <string>

#include "common/base/error.h"
#include "coordinator/api/submission.h"

namespace podium {

// `errors` name values of the spec by JSON pointers in Error.where. Reads the spec again: for a pool.
Errors told_of_spec(Errors errors, const Submission& submission);

// The spec without the values that its own check refuses, so that the scheduler can judge the rest; nothing
// where the remainder is no spec, or where a refused value is part of what its jobs request.
std::optional<std::string> sound_part(const Submission& submission, const Errors& errors);

}  // namespace podium
