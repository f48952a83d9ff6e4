// podium compare: what jobs differ in, and what came of it; of code in git that is here, the commits between.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/commits_text.h"
#include "cli/compare_text.h"
#include "cli/fields.h"
#include "cli/job_number.h"
#include "cli/print.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostCompared = 50;

struct CompareOptions {
  std::vector<std::int64_t> jobs;
  std::string experiment;
  std::int64_t base = 0;
  bool all = false;
  std::vector<std::string> metrics;
  std::string repository = ".";
};

// The newest of that name.
json find_experiment(const Client& client, const std::string& name) {
  if (!name.empty() && name.find_first_not_of("0123456789") == std::string::npos)
    return client.get("/experiments/" + name);
  const json reply = client.newest_experiments();
  for (const json& experiment : reply.at("experiments"))
    if (text_field(experiment, "name") == name) return experiment;
  throw Failure(Exit::refused, "there is no experiment \"" + name + "\"; podium experiments lists them");
}

std::vector<std::int64_t> asked_jobs(const CompareOptions& options, const Client& client) {
  std::vector<std::int64_t> jobs;
  const auto add = [&jobs](std::int64_t job) {
    if (std::ranges::find(jobs, job) == jobs.end()) jobs.push_back(job);
  };
  for (const std::int64_t job : options.jobs) add(job);
  if (!options.experiment.empty()) {
    const json experiment = find_experiment(client, options.experiment);
    for (const json& job : experiment.at("jobs")) add(job.get<std::int64_t>());
  }
  if (options.base != 0) add(options.base);
  if (jobs.size() < 2)
    throw Failure(Exit::usage, "name two jobs to compare, or an --experiment that has them");
  if (jobs.size() > kMostCompared)
    throw Failure(Exit::usage, fmt::format("{} jobs are more than can be compared; name up to {} of them",
                                           jobs.size(), kMostCompared));
  return jobs;
}

void run_compare(const CompareOptions& options, const Session& session) {
  const Client client(session);
  Query query;
  for (const std::int64_t job : asked_jobs(options, client)) query.emplace_back("job", std::to_string(job));
  if (options.base != 0) query.emplace_back("base", std::to_string(options.base));
  if (options.all) query.emplace_back("all", "1");
  for (const std::string& metric : options.metrics) query.emplace_back("metric", metric);
  const json reply = client.get("/compare", query);
  if (!reply.at("missing").empty())
    throw Failure(Exit::refused, "there is no job " + reply.at("missing").front().dump());
  if (session.json) return print(reply.dump() + "\n");
  print(comparison_text(reply, detect_terminal()) + commits_text(reply, options.repository));
}

}  // namespace

void add_compare(CLI::App& app, Session& session) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "Show how jobs differ, and their results");
  add_jobs(*command, options->jobs)->required(false);
  command
      ->add_option("-e,--experiment", options->experiment,
                   "The jobs of this experiment; of those of one name, the newest")
      ->type_name("NAME|ID");
  must_be_job(command->add_option("--base", options->base,
                                  "The job that the others are compared with (default: the first)"))
      ->type_name("JOB");
  command->add_flag("--all", options->all, "Also show what is equal");
  command
      ->add_option("-m,--metrics", options->metrics,
                   "Only these metrics, * standing for any text (default: eval/* and the jobs' targets)")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command
      ->add_option("--repository", options->repository,
                   "Folder of the git repository whose commits are listed, where it has those of the jobs")
      ->type_name("FILE")
      ->capture_default_str();
  command->footer(R"(
The best value of a row is bold. A job's target on the metric says what is better. Without one, less is better of a metric
whose name ends in loss, perplexity, error or error_rate, and more of accuracy, f1, exact_match, mcc, pearson or spearman;
other metrics have no best value. Times and restarts of a job that was not trained are never the best.

Examples:
  podium compare 12 13
  podium compare 12 13 14 --base 13 --metrics 'eval/*' --metrics train/loss
  podium compare 12 --experiment 3 --all          with the jobs of an experiment, by number or name
  podium compare 12 13 --json | jq '.fields[] | {key, values}')");
  command->callback([options, &session] { run_compare(*options, session); });
}

}  // namespace podium::cli
