// Whether a checkpoint belongs to the run that wants to resume from it: whether model, training and text are
// the same, wherever the text lies now.
//
// This program reads and hashes both specs, whichever version wrote the checkpoint, and a value that equals
// JobSpec's default does not count. So a new key of the format strands no checkpoint.
#pragma once

#include <string>

#include "worker/checkpoint/manifest.h"

namespace podium {

// A hash of everything in model and training that shapes a run once it has begun. It leaves out where, in
// what pieces and how often the run is computed and watched, the text, and the weights that it began with,
// which a checkpoint replaces.
std::string run_fingerprint(const JobSpec& spec);

// Returns `spec` with as many steps in its last phase as `other` has.
JobSpec with_steps_of(const JobSpec& other, JobSpec spec);

// Says why a run of `spec` may not resume from `then`; "" if it may.
std::string why_another_run(const CheckpointState& then, const JobSpec& spec);
// Says why the text is another, and what to do; "" if it is the same.
std::string why_other_text(const CheckpointState& then, const JobSpec& spec, const TextIdentity& text);

}  // namespace podium
