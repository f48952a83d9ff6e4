#include "cli/job_filter.h"

#include <stdexcept>

#include "common/model/job_choice.h"

namespace podium::cli {

namespace {

// An empty one would choose all, which a variable of the shell that is not set must not do.
const CLI::Validator kNotEmpty(
    [](std::string& text) { return std::string(text.empty() ? "needs a value that is not empty" : ""); }, "");

// What `read` does not take, said before the coordinator is asked.
template <class Read>
CLI::Validator readable_by(Read read) {
  return {[read](std::string& text) {
            try {
              read(text);
              return std::string();
            } catch (const std::invalid_argument& error) {
              return std::string(error.what());
            }
          },
          ""};
}

}  // namespace

void add_filters(CLI::App& command, JobFilter& filter) {
  command.add_option("-s,--state", filter.state, "Only these states, separated by commas")
      ->check(kNotEmpty)
      ->check(readable_by(job_states_from))
      ->type_name("STATES");
  command
      .add_option("-e,--experiment", filter.experiment,
                  "Only jobs of this experiment, or of all of this name")
      ->check(kNotEmpty)
      ->type_name("NAME|ID");
  command.add_option("-n,--name", filter.name, "Only jobs with this in their name")
      ->check(kNotEmpty)
      ->type_name("TEXT");
  command.add_option("-l,--label", filter.label, "Only jobs with this label")
      ->check(kNotEmpty)
      ->check(readable_by(label_from))
      ->type_name("KEY=VALUE");
  command.add_option("-a,--account", filter.account, "Only jobs of this account and those below it")
      ->check(kNotEmpty)
      ->type_name("ACCOUNT");
}

Query query_of(const JobFilter& filter) {
  const bool number = filter.experiment.find_first_not_of("0123456789") == std::string::npos;
  return {{"state", filter.state},
          {number ? "experiment" : "experiment_name", filter.experiment},
          {"name", filter.name},
          {"label", filter.label},
          {"account", filter.account}};
}

}  // namespace podium::cli
