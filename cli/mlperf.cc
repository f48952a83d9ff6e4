// podium mlperf: logs of MLPerf Training, one's own and those that others published.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/job_number.h"
#include "cli/mlperf_text.h"
#include "cli/print.h"
#include "cli/published_text.h"

namespace podium::cli {
namespace {

using mlperf::Round;
using nlohmann::json;

constexpr std::uintmax_t kLargestLog = std::uintmax_t{256} << 20;

struct MlperfOptions {
  std::vector<std::string> files;
  std::string round;  // "": that which the logs break least
  std::int64_t job = 0;
  std::int64_t devices = 0;  // 0: as many as the log has ranks
  std::string hardware;      // "": the log's platform
};

// The one that is named, or else the one that fits the logs.
Round round_of(const MlperfOptions& options, const std::vector<NamedLog>& logs) {
  if (options.round.empty()) {
    std::vector<const mlperf::Log*> all;
    for (const NamedLog& named : logs) all.push_back(&named.log);
    return mlperf::fitting_round(all);
  }
  if (const auto round = mlperf::find_round(options.round)) return *round;
  throw Failure(Exit::usage, fmt::format("there is no round \"{}\" of MLPerf Training here; there are {}",
                                         options.round, mlperf::round_names()));
}

std::string read_bounded(std::istream& in, const std::string& name) {
  std::string text;
  std::array<char, 64 * 1024> piece;
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kLargestLog)
      throw Failure(Exit::usage,
                    fmt::format("{} has more than {} bytes, which a log has at most", name, kLargestLog));
  }
  if (in.bad()) throw Failure(Exit::usage, fmt::format("cannot read {} to its end", name));
  return text;
}

// Also what another program tells through a pipe, as <(zcat log.gz).
NamedLog read_named(const std::string& file) {
  if (file == "-") return {"<stdin>", mlperf::read_log(read_bounded(std::cin, "<stdin>"))};
  const auto status = std::filesystem::status(file);
  if (!is_regular_file(status) && !is_fifo(status) && !is_character_file(status))
    throw Failure(Exit::usage,
                  file + " is not a file; name a log of MLPerf Training, or - for standard input");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Failure(Exit::usage, fmt::format("cannot open {}: {}", file, std::strerror(errno)));
  return {file, mlperf::read_log(read_bounded(in, file))};
}

void run_check(const MlperfOptions& options, Session& session) {
  for (const std::string& file : options.files) {
    const std::vector<NamedLog> log{read_named(file)};
    const json verdict = verdict_json(log[0], round_of(options, log));
    const bool holds = verdict.at("holds");
    if (!holds) session.exit = Exit::refused;
    if (session.json)
      print(verdict.dump() + "\n");
    else if (holds)
      print(verdict_text(verdict));
    else
      std::fputs(verdict_text(verdict).c_str(), stderr);
  }
}

// A run counts once, whatever its files are called.
Errors equal_logs(const std::vector<NamedLog>& logs) {
  Errors errors;
  for (auto later = logs.begin(); later != logs.end(); ++later) {
    const auto first = std::ranges::find(
        logs.begin(), later, later->log.lines, [](const NamedLog& each) -> auto& { return each.log.lines; });
    if (first != later && !later->log.lines.empty())
      errors.push_back(
          {ErrorCode::invalid, fmt::format("the same run as {}: give it once", first->file), later->file});
  }
  return errors;
}

std::vector<mlperf::Score> scores_in(const std::vector<NamedLog>& logs, Round round) {
  std::vector<mlperf::Run> runs;
  Errors errors = equal_logs(logs);
  for (const NamedLog& named : logs) {
    const auto run = mlperf::run_of(named.log, named.file, round);
    if (run) runs.push_back(*run);
    errors.insert(errors.end(), run.errors().begin(), run.errors().end());
  }
  if (!errors.empty()) throw Failure(Exit::refused, describe(errors));
  return mlperf::scores_of(std::move(runs));
}

std::vector<NamedLog> read_all(const MlperfOptions& options) {
  std::vector<NamedLog> logs;
  for (const std::string& file : options.files) logs.push_back(read_named(file));
  return logs;
}

void run_score(const MlperfOptions& options, Session& session) {
  const std::vector<NamedLog> logs = read_all(options);
  const Round round = round_of(options, logs);
  for (const mlperf::Score& score : scores_in(logs, round)) {
    if (!score.reasons.empty()) session.exit = Exit::refused;
    print(session.json ? to_json(score, round).dump() + "\n" : score_text(score, round, detect_terminal()));
  }
}

// Published is what holds to the rules of its round; of runs that did not converge the score judges.
void require_rules(const std::vector<NamedLog>& logs, Round round) {
  std::string wrong;
  for (const NamedLog& named : logs)
    if (const json verdict = without_outcome(verdict_json(named, round)); !verdict.at("holds"))
      wrong += "\n" + verdict_text(verdict);
  if (wrong.empty()) return;
  wrong.pop_back();
  throw Failure(Exit::refused,
                fmt::format("nothing is imported: is --round {} theirs?{}", to_string(round), wrong));
}

void run_import(const MlperfOptions& options, const Session& session) {
  const std::vector<NamedLog> logs = read_all(options);
  const Round round = round_of(options, logs);
  require_rules(logs, round);
  json records = json::array();
  for (mlperf::Score score : scores_in(logs, round)) {
    if (options.devices > 0) score.of.devices = options.devices;
    if (!options.hardware.empty()) score.of.platform = options.hardware;
    const Result<json> row = published_row(score, round);
    if (!row) throw Failure(Exit::refused, describe(row.errors()));
    records.push_back(*row);
  }
  const json reply = Client(session).post("/published", {{"records", records}});
  if (session.json) return print(reply.dump() + "\n");
  print(fmt::format("{} added, {} replaced, {} there already:\n{}", integer_field(reply, "added"),
                    integer_field(reply, "replaced"), integer_field(reply, "unchanged"),
                    published_table(reply.at("published"), detect_terminal())));
}

void run_result(const MlperfOptions& options, const Session& session) {
  const std::string log = Client(session).get_text(fmt::format("/jobs/{}/mlperf", options.job));
  print(session.json ? json{{"job", options.job}, {"log", log}}.dump() + "\n" : log);
}

using Options = std::shared_ptr<MlperfOptions>;

void add_files(CLI::App& command, const Options& options) {
  command.add_option("FILE", options->files, "The logs, or - for standard input")->required();
}

CLI::Option* add_round(CLI::App& command, const Options& options) {
  return command
      .add_option("--round", options->round,
                  "The round of MLPerf Training whose rules hold (default: the one that fits best)")
      ->type_name("ROUND");
}

void add_check(CLI::App& mlperf, const Options& options, Session& session) {
  CLI::App* command = mlperf.add_subcommand("check", "Hold logs to the rules, and name every deviation");
  add_files(*command, options);
  add_round(*command, options);
  command->footer(R"(
A finding is FILE:LINE: RULE: what is wrong; without a line it is of the whole log. A rule KEY/one, KEY/some or KEY/value
says how many lines of a key there are and what they hold; line, benchmark, order, init-time, status, target,
evaluation-interval and tensors are of the log as a whole (docs/interoperate.md). Without --round a log is held to the
round from 1.0 on whose rules it breaks least, 4.1 before others. The evaluation interval of round 0.7 is not checked.
Exit status 4 where a rule does not hold.

Examples:
  podium mlperf check result_0.txt
  podium mlperf check result_*.txt --round 3.0
  podium mlperf check result_0.txt --json | jq -r '.findings[].rule')");
  command->callback([options, &session] { run_check(*options, session); });
}

void add_score(CLI::App& mlperf, const Options& options, Session& session) {
  CLI::App* command = mlperf.add_subcommand("score", "Compute the result that runs come to");
  add_files(*command, options);
  add_round(*command, options);
  command->footer(R"(
Of the times from run_start to run_stop the fastest and the slowest are left out, and the others averaged. One run that
does not reach the target counts as the slowest; two make the result none. BERT takes ten runs, GPT-3 three; with
others the time is shown, and the exit status is 4; so it is where a run breaks another rule than the target's, as podium
mlperf check names them. Runs of several systems, or batches, are scored apart. The files of one call are of one round.

Examples:
  podium mlperf score result_*.txt
  podium mlperf score result_*.txt --json | jq '.seconds / 60')");
  command->callback([options, &session] { run_score(*options, session); });
}

void add_result(CLI::App& mlperf, const Options& options, Session& session) {
  CLI::App* command =
      mlperf.add_subcommand("result", "Print the log of a job, as MLPerf's result file has it");
  add_job(*command, options->job);
  command->footer(R"(
A training with mlperf: {benchmark: bert} in its spec writes it, and so may a program of your own, to the standard output
of rank 0. A training that was restarted has one log, whose clock has run on; of a program of your own the log is what
its newest attempt has written.

Examples:
  podium mlperf result 12 >job-12.txt
  podium mlperf result 12 | podium mlperf check -)");
  command->callback([options, &session] { run_result(*options, session); });
}

void add_import(CLI::App& mlperf, const Options& options, Session& session) {
  CLI::App* command =
      mlperf.add_subcommand("import", "Put results that others published beside one's own records");
  add_files(*command, options);
  add_round(*command, options)->required();
  command->add_option("--devices", options->devices, "How many devices (default: one for each init_start)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--hardware", options->hardware, "The machine (default: submission_platform)")
      ->type_name("TEXT");
  command->footer(R"(
They are rows of podium published, with their source, and never among the records. Several files of one system come to
one time, as podium mlperf score has it, with one run that did not converge as the slowest. A row that is there already is left alone, and one of the same system, batch and
source replaced. The coordinator keeps them in published.json in its home.

Examples:
  podium mlperf import result_*.txt --round 3.0
  podium published mlperf-bert)");
  command->callback([options, &session] { run_import(*options, session); });
}

}  // namespace

void add_mlperf(CLI::App& app, Session& session) {
  CLI::App* mlperf =
      app.add_subcommand("mlperf", "Check and score logs of MLPerf Training, and show a job's");
  mlperf->require_subcommand(1);
  const auto options = std::make_shared<MlperfOptions>();
  add_check(*mlperf, options, session);
  add_score(*mlperf, options, session);
  add_result(*mlperf, options, session);
  add_import(*mlperf, options, session);
  mlperf->footer(R"(
Examples:
  podium mlperf check result_0.txt
  podium mlperf score result_*.txt
  podium mlperf result 12 >job-12.txt)");
}

}  // namespace podium::cli
