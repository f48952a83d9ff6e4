// Which jobs a command is about: the filters of podium list.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/client.h"

namespace podium::cli {

struct JobFilter {
  std::string state, experiment, name, label, account;
  bool empty() const {
    return state.empty() && experiment.empty() && name.empty() && label.empty() && account.empty();
  }
};

void add_filters(CLI::App& command, JobFilter& filter);

// As GET /jobs takes them.
Query query_of(const JobFilter& filter);

}  // namespace podium::cli
