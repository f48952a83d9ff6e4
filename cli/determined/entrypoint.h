// The entrypoint as a command: a program as it stands, a launcher of Determined's as torchrun, a trial's
// class as a script that is yet to be written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/determined/experiment.h"

namespace podium::cli {

struct Command {
  std::vector<std::string> words;
  bool once_a_node = false;  // it starts the processes of the devices itself
};

Command command_of(DeterminedExperiment& experiment);

// Braces around a plain name mean a parameter to Podium; doubled they mean themselves.
std::string without_placeholders(const std::string& text);

}  // namespace podium::cli
