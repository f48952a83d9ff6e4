#include "cli/job_number.h"

#include <CLI/CLI.hpp>

namespace podium::cli {
namespace {

constexpr std::size_t kMostDigits = 18;  // of what an int64 holds

bool is_number(const std::string& text) {
  return text.find_first_not_of('0') != std::string::npos && text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

CLI::Option* must_be(CLI::Option* option, const std::string& what) {
  const auto check = [what](const std::string& text) {
    return is_number(text) ? "" : "\"" + text + "\" is not the number of " + what;
  };
  return option->check(CLI::Validator(check, ""));
}

}  // namespace

CLI::Option* must_be_job(CLI::Option* option) { return must_be(option, "a job; podium list shows them"); }
CLI::Option* must_be_experiment(CLI::Option* option) {
  return must_be(option, "an experiment; podium studies and podium show tell them");
}

CLI::Option* add_job(CLI::App& command, std::int64_t& job) {
  return must_be_job(command.add_option("JOB", job, "The job's number"))->type_name("")->required();
}

CLI::Option* add_jobs(CLI::App& command, std::vector<std::int64_t>& jobs) {
  return must_be_job(command.add_option("JOB", jobs, "The jobs' numbers"))->type_name("");
}

}  // namespace podium::cli
