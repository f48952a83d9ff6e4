// The option --metric of commands that take some metrics out of many.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace podium::cli {

void add_metric_patterns(CLI::App& command, std::vector<std::string>& patterns);  // see metric_pattern.h

}  // namespace podium::cli
