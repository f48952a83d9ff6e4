#include "cli/job_number.h"

#include <CLI/CLI.hpp>

namespace podium::cli {
namespace {

constexpr std::size_t kMostDigits = 18;  // of what an int64 holds

std::string check_number(const std::string& text) {
  const bool digits = text.find_first_not_of('0') != std::string::npos && text.size() <= kMostDigits &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "\"" + text + "\" is not the number of a job; podium list shows them";
}

CLI::Option* named(CLI::Option* option) {
  return option->check(CLI::Validator(check_number, ""))->type_name("");
}

}  // namespace

CLI::Option* add_job(CLI::App& command, std::int64_t& job) {
  return named(command.add_option("JOB", job, "The job's number"))->required();
}

CLI::Option* add_jobs(CLI::App& command, std::vector<std::int64_t>& jobs) {
  return named(command.add_option("JOB", jobs, "The jobs' numbers"));
}

}  // namespace podium::cli
