// The argument JOB of a command, and JOB... of those that take several.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <vector>

namespace podium::cli {

CLI::Option* add_job(CLI::App& command, std::int64_t& job);
CLI::Option* add_jobs(CLI::App& command, std::vector<std::int64_t>& jobs);

}  // namespace podium::cli
