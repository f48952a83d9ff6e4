// The spec that a command of this machine trains: a file and what the command line puts in place of its
// values.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "common/model/spec.h"

namespace podium {

struct SpecArguments {
  std::string file;               // YAML, or JSON as normalised
  std::string job;                // of a study; "" the first
  int devices = 0;                // processes; 0: as many as the spec asks for
  std::vector<std::string> sets;  // "training.schedule.steps=20"
  int tensor = 0;                 // 0: as in the spec
  int pipeline = 0;
  bool gpu = false;  // else the CPU
};

// SPEC, --job, --devices, --gpu, --tensor, --pipeline and --set.
void add_spec_arguments(CLI::App& command, SpecArguments& arguments);

// The job, with resources.kind as `gpu` says and resources.devices the processes to start. `notes` gets what
// a person should know of the choice. Throws Failure(bad_spec) with every problem.
JobSpec read_spec(const SpecArguments& arguments, std::vector<std::string>& notes);

}  // namespace podium
