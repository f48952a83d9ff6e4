// Whether a checkpoint is of the run that wants to go on from it: of the same model and training, on the same
// text, wherever that lies now.
//
// Both specs are read and hashed by this program, whichever wrote the checkpoint, and what a spec says as
// JobSpec's defaults do does not count: a key that is new strands no checkpoint.
#pragma once

#include <string>

#include "worker/checkpoint/manifest.h"

namespace podium {

// A hash of all that shapes a run in model and training once it has begun; not of where, in what pieces, how
// often or by whom it is computed and watched, nor of the text, nor of the weights it began with, which a
// checkpoint takes the place of.
std::string run_fingerprint(const JobSpec& spec);

// `spec` with as many steps in its last phase as `other` has.
JobSpec with_steps_of(const JobSpec& other, JobSpec spec);

// What keeps a run of `spec` from going on from `then`; "" where nothing does.
std::string why_another_run(const CheckpointState& then, const JobSpec& spec);
// The same of the text that it was trained on, and what to do.
std::string why_other_text(const CheckpointState& then, const JobSpec& spec, const TextIdentity& text);

}  // namespace podium
