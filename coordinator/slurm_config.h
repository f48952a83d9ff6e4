// The options of the coordinator that say where nodes on demand come from.
#pragma once

#include <CLI/CLI.hpp>

#include "coordinator/config.h"

namespace podium {

void add_slurm(CLI::App& app, SlurmOptions& slurm);

// Fills in what was not given, and tells the scheduler of these nodes. "", or what is wrong.
std::string settle_slurm(Config& config);

}  // namespace podium
