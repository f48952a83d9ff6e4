// From the text of a spec to an experiment on disk: the one way in, for the API and for git repositories.
#pragma once

#include <string>

#include "common/spec/load.h"
#include "coordinator/api/api.h"
#include "coordinator/api/submission.h"

namespace podium {

// Checks the spec, on a pool for that.
awaitable<Result<LoadedExperiment>> load_submission(Api& api, const Submission& submission);
// With what only the store knows: how the jobs ended that it waits for and that the state has forgotten. Good
// for a turn taken before the caller suspends again.
awaitable<SubmitExperiment> wish_of(Api& api, const LoadedExperiment& loaded);

// What the scheduler has against its jobs, with the lines of the spec.
awaitable<Errors> told(Api& api, Errors errors, Submission submission);

// The mistakes of a spec, and what the scheduler has against the rest of it: one round tells all.
awaitable<Errors> all_told(Api& api, Errors mistakes, Submission submission);

struct Accepted {
  ExperimentId experiment;
  bool fresh = true;  // false: the key was known, and this is the experiment it made then
};

// Errors: mistakes in the spec, a job that can never run, or a coordinator that is busy or stopping.
// With a `key`, the same key never makes two experiments; `conflict` when it made one of another spec or
// other code.
awaitable<Result<Accepted>> submit_experiment(Api& api, Submission submission, std::string key);

}  // namespace podium
