// Turns the text of a spec into an experiment on disk, for the API and for git repositories. There is no
// other way.
#pragma once

#include <string>

#include "common/spec/load.h"
#include "coordinator/api/api.h"
#include "coordinator/api/submission.h"

namespace podium {

// Checks the spec, on the pool `checks`.
awaitable<Result<LoadedExperiment>> load_submission(Api& api, const Submission& submission);
// Adds what only the store knows: how jobs ended that the spec waits for and that the state has forgotten.
// Valid for a turn that is taken before the caller suspends again.
awaitable<SubmitExperiment> wish_of(Api& api, const LoadedExperiment& loaded);

// What the scheduler, and the jobs whose weights they take, have against the jobs.
awaitable<Errors> objections(Api& api, const LoadedExperiment& loaded);
// Objections with the lines of the spec.
awaitable<Errors> told(Api& api, Errors errors, Submission submission);

// The mistakes of a spec together with the objections to the rest of it.
awaitable<Errors> all_told(Api& api, Errors mistakes, Submission submission);

struct Accepted {
  ExperimentId experiment;
  bool fresh = true;  // false: the key was known; this is the experiment that it made
};

// Errors: mistakes in the spec, a job that can never run, or a coordinator that is busy or stopping. With a
// `key`, the same key never makes two experiments; `conflict` where it made one of another spec or other
// code.
awaitable<Result<Accepted>> submit_experiment(Api& api, Submission submission, std::string key);

}  // namespace podium
