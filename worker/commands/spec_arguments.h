// The spec that a command trains on this machine: a file, and values on the command line that replace the
// file's.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "common/model/spec.h"

namespace podium {

struct SpecArguments {
  std::string file;               // YAML, or JSON as normalised
  std::string job;                // of a study; "": the first
  int devices = 0;                // processes; 0: as many as the spec asks for
  std::vector<std::string> sets;  // "training.schedule.steps=20"
  int tensor = 0;                 // 0: as in the spec
  int pipeline = 0;
  bool gpu = false;  // else the CPU
};

// Adds SPEC, --job, --devices, --gpu, --tensor, --pipeline and --set.
void add_spec_arguments(CLI::App& command, SpecArguments& arguments);

// Returns the job. `gpu` sets resources.kind, and resources.devices is the number of processes to start. Adds
// to `notes` what people should know about the choice. Throws Failure(bad_spec) with every problem.
JobSpec read_spec(const SpecArguments& arguments, std::vector<std::string>& notes);

}  // namespace podium
