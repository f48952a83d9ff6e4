// podium cancel, hold, release, requeue: what an operator does to jobs, named by number or chosen by filter.
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/count_progress.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_filter.h"
#include "cli/job_number.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "cli/terminal.h"

namespace podium::cli {
namespace {

using nlohmann::json;
using JobIds = std::vector<std::int64_t>;

constexpr std::size_t kMostJobsAtOnce = 1000;  // of one request
constexpr std::size_t kMostRefusalsTold = 10;  // where nobody named the jobs
constexpr std::string_view kCancel = "cancel";
constexpr const char* kLive = "queued,starting,running,stopping";

struct Operation {
  const char* name;    // "cancel"
  const char* states;  // that are chosen where --state names none; "": it must name some
};

struct Choice {
  JobIds ids;
  JobFilter filter;
  bool yes = false;
};

// How many jobs of each state: "9,990 queued, 10 running".
std::string counts_by_state(const std::map<std::string, std::int64_t>& states) {
  std::string text;
  for (const auto& [state, count] : states)
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", human_count(count), state);
  return text;
}

std::string jobs_in_words(std::size_t count) {
  return fmt::format("{} job{}", human_count(static_cast<std::int64_t>(count)), count == 1 ? "" : "s");
}

void require_word(const Operation& operation, const std::string& states, std::size_t count) {
  const std::string question = fmt::format("{} {} ({})", operation.name, jobs_in_words(count), states);
  if (::isatty(STDIN_FILENO) != 1)
    throw Failure(Exit::usage,
                  fmt::format("this would {}; confirm it with --yes, because there is no terminal to ask on",
                              question));
  std::fprintf(stderr, "podium: %s? [y/N] ", question.c_str());
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "Y" && answer != "yes") throw Failure(Exit::usage, "nothing was done");
}

// The jobs that the filter chooses, once the user has agreed to their number.
JobIds chosen(const Operation& operation, const Choice& choice, const Client& client) {
  JobFilter filter = choice.filter;
  if (filter.state.empty()) filter.state = operation.states;
  if (filter.state.empty())
    throw Failure(Exit::usage,
                  fmt::format("--state must say which jobs to {}, as in --state failed", operation.name));
  Query query = query_of(filter);
  query.emplace_back("sort", "id");
  const json reply = client.get_pages("/jobs", std::move(query), "jobs", std::size_t{1} << 20);
  JobIds ids;
  std::map<std::string, std::int64_t> states;
  for (const json& job : reply.at("jobs")) {
    if (operation.name == std::string_view("release") && !flag_field(job, "held")) continue;
    ids.push_back(integer_field(job, "id"));
    ++states[text_field(job, "state", "?")];
  }
  if (!ids.empty() && !choice.yes) require_word(operation, counts_by_state(states), ids.size());
  return ids;
}

// What became of the jobs.
struct Results {
  json jobs = json::array();      // of those that were asked for
  std::optional<Failure> broken;  // why the rest was not
};

// Jobs that run free devices as they are cancelled: those that wait go first, so that none of them starts
// meanwhile. What one request cancels is cancelled at once.
void put_queued_first(JobIds& ids, const Client& client) {
  if (ids.size() <= kMostJobsAtOnce) return;
  const json reply =
      client.get_pages("/jobs", {{"state", "queued"}, {"sort", "id"}}, "jobs", std::size_t{1} << 20);
  std::set<std::int64_t> queued;
  for (const json& job : reply.at("jobs")) queued.insert(integer_field(job, "id"));
  std::ranges::stable_partition(ids, [&](std::int64_t id) { return queued.contains(id); });
}

// What is done twice without harm, so that it may be sent again where no answer came. A job that is requeued
// twice stops twice.
bool may_be_repeated(const Operation& operation) { return operation.name != std::string_view("requeue"); }

// The job that an earlier try of the request cancelled, whose repetition was refused: as it is now.
void accept_cancelled(json& result, const Client& client) {
  const std::int64_t id = integer_field(result, "id");
  if (!result.contains("refusal")) return;
  try {
    json job = client.get(fmt::format("/jobs/{}", id));
    if (text_field(job, "state") == "cancelled") result = {{"id", id}, {"job", std::move(job)}};
  } catch (const Failure& failure) {
    if (failure.status() != Exit::refused) throw;  // the refusal stands: there is no such job
  }
}

// A job that is refused keeps none of the others from being done.
Results results_of(const Operation& operation, const JobIds& ids, const Client& client) {
  Results results;
  CountProgress progress("done", ids.size());
  for (std::size_t at = 0; at < ids.size(); at += kMostJobsAtOnce) {
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(at);
    const JobIds part(begin, begin + static_cast<std::ptrdiff_t>(std::min(kMostJobsAtOnce, ids.size() - at)));
    try {
      const Repeat repeat = !may_be_repeated(operation) ? Repeat::never
                            : at == 0                   ? Repeat::briefly
                                                        : Repeat::over_restart;
      bool repeated = false;
      json reply = client.post_again("/jobs/operations", {{"operation", operation.name}, {"jobs", part}},
                                     repeat, repeated);
      for (json& result : reply.at("results")) {
        if (repeated && operation.name == kCancel) accept_cancelled(result, client);
        results.jobs.push_back(std::move(result));
      }
    } catch (const Failure& failure) {
      const std::string done =
          at == 0 ? ""
                  : fmt::format("; the request for {} of {} was sent before", at, jobs_in_words(ids.size()));
      results.broken.emplace(failure.status(), failure.what() + done);
      return results;
    }
    progress.tell(at + part.size());
  }
  return results;
}

std::string refusals_text(const std::vector<std::string>& refusals, bool by_filter) {
  const std::size_t most = by_filter ? kMostRefusalsTold : refusals.size();
  std::string text;
  for (std::size_t i = 0; i < std::min(most, refusals.size()); ++i) text += (i > 0 ? "\n" : "") + refusals[i];
  if (refusals.size() > most) text += fmt::format("\nand {} more", jobs_in_words(refusals.size() - most));
  return text;
}

void tell(const Results& results, bool by_filter, const Session& session) {
  std::string text;
  std::vector<std::string> refusals;
  std::map<std::string, std::int64_t> states;
  for (const json& result : results.jobs) {
    if (!result.contains("job")) {
      refusals.push_back(text_field(result, "refusal"));
      continue;
    }
    const json& job = result.at("job");
    ++states[state_text(job)];
    if (!by_filter) text += told(job);
  }
  if (session.json)
    text = json{{"results", results.jobs}}.dump() + "\n";
  else if (by_filter && !states.empty())
    text = fmt::format("{}: now {}\n", jobs_in_words(results.jobs.size() - refusals.size()),
                       counts_by_state(states));
  print(text);
  const std::string refused = refusals_text(refusals, by_filter);
  if (results.broken)
    throw Failure(results.broken->status(), results.broken->what() + (refused.empty() ? "" : "\n" + refused));
  if (!refusals.empty()) throw Failure(Exit::refused, refused);
}

void run_operation(const Operation& operation, const Choice& choice, const Session& session) {
  if (!choice.ids.empty() && !choice.filter.empty())
    throw Failure(Exit::usage, "name the jobs by their numbers, or choose them with options, not both");
  if (choice.ids.empty() && choice.filter.empty())
    throw Failure(
        Exit::usage,
        fmt::format("name the jobs to {0} by their numbers, or choose them with --experiment, --state, "
                    "--name, --label or --account: podium {0} --help",
                    operation.name));
  const Client client(session);
  const bool by_filter = choice.ids.empty();
  JobIds ids = by_filter ? chosen(operation, choice, client) : choice.ids;
  if (operation.name == kCancel) put_queued_first(ids, client);
  if (ids.empty())
    std::fprintf(stderr, "podium: there is no such job to %s\n", operation.name);
  else
    tell(results_of(operation, ids, client), by_filter, session);
}

CLI::App* add(CLI::App& app, Session& session, const Operation& operation, const std::string& what) {
  const auto choice = std::make_shared<Choice>();
  CLI::App* command = app.add_subcommand(operation.name, what);
  add_jobs(*command, choice->ids);
  add_filters(*command, choice->filter);
  command->add_flag("-y,--yes", choice->yes, "Do not ask for confirmation");
  command->callback([operation, choice, &session] { run_operation(operation, *choice, session); });
  return command;
}

}  // namespace

void add_cancel(CLI::App& app, Session& session) {
  add(app, session, {kCancel.data(), kLive}, "Cancel jobs; running ones get the grace period to save")
      ->footer(R"(
Without numbers it cancels all jobs that match the filters and have not ended, once you have confirmed how many.

Examples:
  podium cancel 12
  podium cancel --experiment quickstart --state queued --yes
  podium cancel --label sweep=old --yes)");
}

void add_hold(CLI::App& app, Session& session) {
  add(app, session, {"hold", kLive}, "Keep jobs from starting; running ones go on, but do not start again")
      ->footer(R"(
Examples:
  podium hold 12
  podium hold --label team=nlp --state queued --yes)");
}

void add_release(CLI::App& app, Session& session) {
  add(app, session, {"release", kLive}, "Let held jobs start")->footer(R"(
Examples:
  podium release 12 13
  podium release --account nlp --yes)");
}

void add_requeue(CLI::App& app, Session& session) {
  add(app, session, {"requeue", ""}, "Queue jobs again; they continue from their newest checkpoint")
      ->footer(R"(
A running job stops at a checkpoint first, at no cost. A job that backs off after failures is tried at once, on any node.
A job that failed, ran out of walltime or was cancelled keeps its number and gets all its restarts and its whole walltime
again.

Examples:
  podium requeue 12
  podium hold 12 && podium requeue 12        stop it until podium release 12
  podium requeue --experiment quickstart --state failed --yes)");
}

}  // namespace podium::cli
