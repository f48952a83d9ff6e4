// What the scheduler has against the jobs of a spec, told as mistakes of the spec are: with its line, and
// what many jobs of a study have in common once.
#pragma once

#include <optional>
#include <string>

#include "common/base/error.h"
#include "coordinator/api/submission.h"

namespace podium {

// `errors` name values of the spec by JSON pointers in Error.where. Reads the spec again: for a pool.
Errors told_of_spec(Errors errors, const Submission& submission);

// The spec without the values that its own check refuses, so that the scheduler can be asked about the rest;
// nothing where that is no spec, or where what its jobs ask for is among them.
std::optional<std::string> sound_part(const Submission& submission, const Errors& errors);

}  // namespace podium
