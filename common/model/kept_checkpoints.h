// Which checkpoints of a training remain when it has ended, as far as its spec says.
#pragma once

#include <cstdint>
#include <string>

#include "common/model/spec.h"

namespace podium {

// Of all phases.
std::int64_t steps_of(const TrainingSpec& training);

// Why a training that takes its steps in one go has no checkpoint of `step` in the end; "" where it may have
// one.
std::string why_never_kept(const JobSpec& spec, std::int64_t step);

}  // namespace podium
