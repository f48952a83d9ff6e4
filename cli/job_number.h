// The argument JOB of a command, JOB... of those that take several, and other options that are numbers of
// things.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <vector>

namespace podium::cli {

CLI::Option* add_job(CLI::App& command, std::int64_t& job);
CLI::Option* add_jobs(CLI::App& command, std::vector<std::int64_t>& jobs);

// Refuse in one sentence what is no such number.
CLI::Option* must_be_job(CLI::Option* option);
CLI::Option* must_be_experiment(CLI::Option* option);

}  // namespace podium::cli
