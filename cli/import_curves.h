// The subcommands of "podium import" that take in curves.
#pragma once

#include <CLI/App.hpp>

#include "cli/session.h"

namespace podium::cli {

void add_import_curves(CLI::App& import, Session& session);

}  // namespace podium::cli
