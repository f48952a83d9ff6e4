// podium bisect: which commit between two jobs made a metric worse, told by training the commits between.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>

#include "cli/bisection.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/fields.h"
#include "cli/follow.h"
#include "cli/humanise.h"
#include "cli/job_number.h"
#include "cli/job_text.h"
#include "cli/print.h"
#include "cli/spec_history.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kHashShown = 12;
constexpr std::array kVerdicts{"untried", "good", "bad", "skipped"};

struct BisectOptions {
  std::int64_t good = 0, bad = 0;
  std::string metric;
  std::string repository = ".";
  bool run = false;
  int most = 10;
};

// What is searched.
struct Search {
  BisectOptions options;
  json source;               // of the bad job's spec
  std::size_t place = 0;     // of the job among those of its experiment
  double good = 0, bad = 0;  // values of the metric
  std::vector<SpecVersion> versions;
};

// A commit's training, if there is one.
struct Trial {
  std::int64_t job = 0;
  std::optional<double> value;
  Verdict verdict = Verdict::untried;
};

json source_of(const json& job, const char* which) {
  const json source = field(job, "source");
  const std::int64_t id = integer_field(job, "id");
  if (!source.is_object() || text_field(source, "commit").empty())
    throw Failure(Exit::refused, fmt::format("no commit is recorded of job {}, the {} one", id, which));
  if (flag_field(source, "dirty"))
    throw Failure(Exit::refused,
                  fmt::format("job {}, the {} one, was submitted with uncommitted changes; podium submit "
                              "the commit without them and name that job",
                              id, which));
  return source;
}

// Of each job the metric, or the measure, that is asked for: a rate's median, the best where better is known,
// else the last.
std::map<std::int64_t, double> values_of(const Client& client, const std::vector<std::int64_t>& jobs,
                                         const std::string& metric) {
  Query query{{"metric", metric}};
  for (const std::int64_t job : jobs) query.emplace_back("job", std::to_string(job));
  const json reply = client.get("/compare", query);
  std::map<std::int64_t, double> values;
  for (const char* measure : {"median", "best", "final", "time_to_train"}) {
    for (const json& outcome : reply.at("outcomes")) {
      const bool asked = text_field(outcome, "metric") == metric || metric == measure;
      if (!asked || text_field(outcome, "measure") != measure) continue;
      for (std::size_t i = 0; i < reply.at("jobs").size(); ++i)
        if (const json& value = outcome.at("values").at(i); value.is_number())
          values.emplace(integer_field(reply.at("jobs").at(i), "id"), value.get<double>());
    }
    if (!values.empty()) break;
  }
  return values;
}

std::size_t place_of(const Client& client, const json& job) {
  const json experiment = client.get(fmt::format("/experiments/{}", integer_field(job, "experiment")));
  const json& jobs = experiment.at("jobs");
  return static_cast<std::size_t>(std::ranges::find(jobs, job.at("id")) - jobs.begin());
}

Search begin(const BisectOptions& options, const Client& client, const SpecHistory& history, const json& good,
             const json& bad) {
  const json from = source_of(good, "good"), to = source_of(bad, "bad");
  Search search{options, to, place_of(client, bad), 0, 0, {}};
  const auto values = values_of(client, {options.good, options.bad}, options.metric);
  for (const std::int64_t job : {options.good, options.bad})
    if (!values.contains(job))
      throw Failure(Exit::refused,
                    fmt::format("job {} has no value of {}; podium metrics {} lists what it has", job,
                                options.metric, job));
  search.good = values.at(options.good);
  search.bad = values.at(options.bad);
  if (search.good == search.bad)
    throw Failure(Exit::refused, fmt::format("both jobs have {} {}: nothing tells them apart", options.metric,
                                             human_value(search.good)));
  search.versions = history.versions(text_field(from, "commit"), text_field(to, "commit"));
  if (search.versions.empty())
    throw Failure(Exit::refused,
                  "no commit between the two jobs changed " + text_field(to, "path") + " or its code");
  return search;
}

bool told_nothing(const json& job) { return has_ended(job) && text_field(job, "state") != "succeeded"; }

// The newest training of each commit that told something or still may, or else the newest.
std::map<std::string, json> trained(const Client& client, const Search& search) {
  std::map<std::string, json> jobs;
  const json reply = client.newest_experiments();
  for (const json& experiment : reply.at("experiments")) {
    const json source = field(experiment, "source");
    if (!source.is_object() || flag_field(source, "dirty")) continue;
    if (text_field(source, "repository") != text_field(search.source, "repository") ||
        text_field(source, "path") != text_field(search.source, "path"))
      continue;
    const std::string commit = text_field(source, "commit");
    const bool is_asked = std::ranges::any_of(
        search.versions, [&commit](const SpecVersion& version) { return version.commit.hash == commit; });
    if (!is_asked || experiment.at("jobs").size() <= search.place) continue;
    const auto known = jobs.find(commit);
    if (known != jobs.end() && !told_nothing(known->second)) continue;
    const json job = client.get("/jobs/" + experiment.at("jobs").at(search.place).dump());
    if (known == jobs.end() || !told_nothing(job)) jobs[commit] = job;
  }
  return jobs;
}

std::vector<Trial> look(const Client& client, const Search& search) {
  const std::map<std::string, json> jobs = trained(client, search);
  std::vector<Trial> trials(search.versions.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    Trial& trial = trials[i];
    const SpecVersion& version = search.versions[i];
    if (i + 1 == trials.size()) {  // its content is the bad job's
      trial = {search.options.bad, search.bad, Verdict::bad};
      continue;
    }
    if (!version.text) trial.verdict = Verdict::skipped;
    const auto known = jobs.find(version.commit.hash);
    if (known == jobs.end()) continue;
    trial.job = integer_field(known->second, "id");
    if (!has_ended(known->second)) continue;
    trial.verdict = Verdict::skipped;
    if (told_nothing(known->second)) continue;
    const auto value = values_of(client, {trial.job}, search.options.metric);
    if (value.empty()) continue;
    trial.value = value.begin()->second;
    trial.verdict = is_bad(*trial.value, search.good, search.bad) ? Verdict::bad : Verdict::good;
  }
  return trials;
}

BisectionStep step_of(const std::vector<Trial>& trials) {
  std::vector<Verdict> verdicts;
  for (const Trial& trial : trials) verdicts.push_back(trial.verdict);
  return next_step(verdicts);
}

std::string short_hash(const SpecVersion& version) { return version.commit.hash.substr(0, kHashShown); }

std::string trials_table(const Search& search, const std::vector<Trial>& trials, const BisectionStep& step,
                         const Terminal& terminal) {
  Table table({{"COMMIT"}, {"SUMMARY", false, true, 12}, {"JOB", true}, {"VALUE", true}, {"VERDICT"}});
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& trial = trials[i];
    const bool is_next = step.next == i;
    table.add({{short_hash(search.versions[i]), step.first_bad == i ? Colour::bold : Colour::none},
               {search.versions[i].commit.summary},
               {trial.job == 0 ? "–" : std::to_string(trial.job)},
               {trial.value ? human_value(*trial.value) : "–"},
               {is_next ? (trial.job == 0 ? "next" : "next, under way")
                        : kVerdicts[static_cast<std::size_t>(trial.verdict)]}});
  }
  return table.render(terminal);
}

std::string conclusion(const Search& search, const BisectionStep& step) {
  if (step.first_bad) {
    const Commit& commit = search.versions[*step.first_bad].commit;
    return fmt::format("first bad commit: {}  {}  {}\n", commit.hash, printable(commit.author),
                       printable(commit.summary));
  }
  if (step.next)
    return fmt::format(
        "{} commits may be the first bad one: at most {} trainings find it, and one more for each that "
        "fails\n",
        step.left, std::bit_width(step.left - 1));
  std::string text = "the first bad commit is one of these, of which the others could not be trained:\n";
  for (const std::size_t i : step.suspects)
    text += fmt::format("  {}  {}\n", short_hash(search.versions[i]),
                        printable(search.versions[i].commit.summary));
  return text;
}

json as_json(const Search& search, const std::vector<Trial>& trials, const BisectionStep& step) {
  const auto hash = [&search](std::size_t i) { return search.versions[i].commit.hash; };
  json commits = json::array(), suspects = json::array();
  for (std::size_t i = 0; i < trials.size(); ++i)
    commits.push_back({{"commit", hash(i)},
                       {"summary", search.versions[i].commit.summary},
                       {"job", trials[i].job == 0 ? json() : json(trials[i].job)},
                       {"value", trials[i].value ? json(*trials[i].value) : json()},
                       {"verdict", kVerdicts[static_cast<std::size_t>(trials[i].verdict)]}});
  for (const std::size_t i : step.suspects) suspects.push_back(hash(i));
  return {{"metric", search.options.metric},
          {"good", {{"job", search.options.good}, {"value", search.good}}},
          {"bad", {{"job", search.options.bad}, {"value", search.bad}}},
          {"commits", std::move(commits)},
          {"next", step.next ? json(hash(*step.next)) : json()},
          {"first_bad", step.first_bad ? json(hash(*step.first_bad)) : json()},
          {"suspects", std::move(suspects)}};
}

// The same commit is never trained twice for one search: its key is always the same.
std::int64_t submit(const Client& client, const SpecHistory& history, const Search& search,
                    const SpecVersion& version) {
  json source = search.source;
  source["commit"] = version.commit.hash;
  source["dirty"] = false;
  json body{{"spec", *version.text}, {"file", text_field(search.source, "path")}, {"source", source}};
  if (version.code)
    body["code"] = client.post_bytes("/code", "application/zstd", history.pack(version).packed).at("sha256");
  const std::string key =
      fmt::format("bisect {} {} {}", search.options.good, search.options.bad, version.commit.hash);
  const json reply = client.post("/experiments", body, key, Patience::great);
  if (reply.at("jobs").size() <= search.place)
    throw Failure(Exit::refused,
                  fmt::format("the spec of commit {} has {} jobs; that of the bad one has more",
                              short_hash(version), reply.at("jobs").size()));
  return integer_field(reply.at("jobs").at(search.place), "id");
}

void run_bisect(const BisectOptions& options, Session& session) {
  const Client client(session);
  const json good = client.get(fmt::format("/jobs/{}", options.good)),
             bad = client.get(fmt::format("/jobs/{}", options.bad));
  const SpecHistory history(options.repository, text_field(source_of(bad, "bad"), "path"));
  const Search search = begin(options, client, history, good, bad);
  for (int trained = 0;; ++trained) {
    const std::vector<Trial> trials = look(client, search);
    const BisectionStep step = step_of(trials);
    const bool stops = !options.run || !step.next || trained == options.most;
    if (session.json && stops) return print(as_json(search, trials, step).dump() + "\n");
    if (!session.json)
      print(trials_table(search, trials, step, detect_terminal()) + conclusion(search, step));
    if (stops) return;
    const SpecVersion& version = search.versions[*step.next];
    const std::int64_t under_way = trials[*step.next].job;
    const std::int64_t job = under_way != 0 ? under_way : submit(client, history, search, version);
    if (!session.json) print(fmt::format("\njob {} trains commit {}\n", job, short_hash(version)));
    session.exit = follow_job(session, job);
    if (session.exit == Exit::interrupted) return;
    session.exit = Exit::ok;  // what a training that failed means is the search's to tell
  }
}

}  // namespace

void add_bisect(CLI::App& app, Session& session) {
  const auto options = std::make_shared<BisectOptions>();
  CLI::App* command =
      app.add_subcommand("bisect", "Find the commit between two jobs that made a metric worse");
  must_be_job(command->add_option("GOOD", options->good, "The number of a job whose value is good"))
      ->required()
      ->type_name("JOB");
  must_be_job(command->add_option("BAD", options->bad, "The number of a later job whose value is bad"))
      ->required()
      ->type_name("JOB");
  command->add_option("-m,--metric", options->metric, "The metric to compare, or time_to_train")
      ->required()
      ->type_name("METRIC");
  command->add_flag("--run", options->run, "Submit the trainings, one after the other, and follow them");
  command->add_option("--most", options->most, "With --run: no more trainings than this")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--repository", options->repository, "Folder of a clone that has the commits")
      ->type_name("FILE")
      ->capture_default_str();
  command->footer(R"(
Both jobs must come from one spec in git, without uncommitted changes. The search covers the commits of the main line
between them that changed the spec or the folder that it names under code. A commit is bad where its value is nearer to
the bad job's than to the good job's. The value is the median of a rate (…_per_second); of other metrics the best value
where the better direction is known, else the last. Earlier jobs of these commits count, so an interrupted search
continues. A commit whose training fails is skipped.

Examples:
  podium bisect 12 13 --metric eval/mlm_loss          what would be trained
  podium bisect 12 13 --metric eval/mlm_loss --run
  podium bisect 12 13 --metric time_to_train --json | jq .first_bad)");
  command->callback([options, &session] { run_bisect(*options, session); });
}

}  // namespace podium::cli
