#include "coordinator/pilots/slurm_commands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "common/base/text.h"
#include "common/base/units.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kMark = "podium:";
constexpr std::size_t kLongestSlurmReason = 300;

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || rest != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// One word of a POSIX shell.
std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::int64_t whole_seconds(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

// The text before the next separator, which is removed with it.
std::string_view take_field(std::string_view& row) {
  const std::size_t end = std::min(row.find('|'), row.size());
  const std::string_view field = row.substr(0, end);
  row.remove_prefix(std::min(end + 1, row.size()));
  return field;
}

std::optional<SlurmJob> read_row(std::string_view row) {
  SlurmJob found;
  const auto id = number_in<std::int64_t>(take_field(row));
  found.state = take_field(row);
  const auto nodes = number_in<int>(take_field(row));
  std::string_view comment = take_field(row);
  if (!id || !nodes || !comment.starts_with(kMark)) return std::nullopt;
  comment.remove_prefix(kMark.size());
  const std::size_t colon = comment.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto job = number_in<std::int64_t>(comment.substr(0, colon));
  const auto attempt = number_in<int>(comment.substr(colon + 1));
  if (!job || !attempt) return std::nullopt;
  found.id = *id;
  found.nodes = *nodes;
  found.job = {*job};
  found.attempt = *attempt;
  found.reason = cut_text(std::string(row), kLongestSlurmReason);
  return found;
}

}  // namespace

bool is_slurm_name(const std::string& text) {
  const auto allowed = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= 63 && text.front() != '-' && std::ranges::all_of(text, allowed);
}

Duration longest_job(const SlurmOptions& options) {
  return options.walltime - options.grace - kSignalEarly - kPilotStart;
}

Duration walltime_for(const SlurmOptions& options, Duration job) {
  return std::min(options.walltime, 2 * job + options.grace + kSignalEarly + kPilotStart);
}

bool SlurmJob::lives() const {
  constexpr std::array kLive{"PENDING",     "CONFIGURING",  "RUNNING",      "COMPLETING", "RESIZING",
                             "SIGNALING",   "STAGE_OUT",    "STOPPED",      "SUSPENDED",  "REQUEUED",
                             "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD"};
  return std::ranges::find(kLive, state) != kLive.end();
}

bool SlurmJob::over() const {
  constexpr std::array kOver{"COMPLETED", "CANCELLED",     "FAILED",  "TIMEOUT",
                             "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE"};
  return std::ranges::find(kOver, state) != kOver.end();
}

std::vector<std::string> sbatch_command(const SlurmOptions& options, const Ask& ask) {
  const std::int64_t minutes = std::chrono::ceil<std::chrono::minutes>(ask.walltime).count();
  std::vector<std::string> command{
      "sbatch",
      "--parsable",
      "--no-requeue",
      "--exclusive",
      "--mem=0",
      "--ntasks-per-node=1",
      "--partition=" + options.partition,
      "--job-name=" + options.job_name,
      "--comment=" + std::string(kMark) + to_string(ask.job) + ":" + std::to_string(ask.attempt),
      "--nodes=" + std::to_string(ask.nodes),
      "--time=" + std::to_string(minutes),
      "--signal=B:TERM@" + std::to_string(whole_seconds(options.grace)),
      "--chdir=" + options.shared.string(),
      "--output=" + (options.shared / "podium-slurm-%j.log").string()};
  if (!options.account.empty()) command.push_back("--account=" + options.account);
  if (options.gpus > 0) command.push_back("--gres=gpu:" + std::to_string(options.gpus));
  return command;
}

std::string allocation_script(const SlurmOptions& options, const Ask& ask) {
  const Duration lent = ask.walltime - options.grace - kSignalEarly;
  std::vector<std::string> words{options.agent.string(),
                                 "--join",
                                 "--lent-for",
                                 format_duration(lent),
                                 "--alone-for",
                                 format_duration(options.idle),
                                 "--coordinator",
                                 options.coordinator,
                                 "--token-file",
                                 options.token_file.string(),
                                 "--home",
                                 options.home.string(),
                                 "--shared",
                                 options.shared.string(),
                                 "--data",
                                 options.data.string(),
                                 "--cpu-slots",
                                 std::to_string(options.gpus > 0 ? 0 : options.cpu_slots)};
  if (!options.ca_file.empty()) words.insert(words.end(), {"--ca-file", options.ca_file.string()});
  std::string agent;
  for (const std::string& word : words) agent += " " + shell_word(word);
  return "#!/bin/bash\n"
         "# To the agents SIGURG says that they leave; other processes, which Slurm sends it as well, ignore "
         "it.\n"
         "trap 'scancel --signal=URG \"$SLURM_JOB_ID\"' TERM\n"
         "srun --no-kill --kill-on-bad-exit=0 --mpi=none" +
         agent +
         " &\n"
         "step=$!\n"
         "wait \"$step\"; code=$?\n"
         "while kill -0 \"$step\" 2>/dev/null; do wait \"$step\"; code=$?; done\n"
         "exit \"$code\"\n";
}

std::vector<std::string> squeue_command(const SlurmOptions& options, unsigned user) {
  return {"squeue",
          "--noheader",
          "--all",
          "--states=all",
          "--user=" + std::to_string(user),
          "--name=" + options.job_name,
          "--format=%i|%T|%D|%k|%r"};
}

std::vector<std::string> scancel_command(std::int64_t allocation) {
  return {"scancel", std::to_string(allocation)};
}

std::optional<std::int64_t> read_sbatch(std::string_view text) {
  return number_in<std::int64_t>(text.substr(0, text.find_first_of(";\r\n")));
}

std::vector<SlurmJob> read_squeue(std::string_view text) {
  std::vector<SlurmJob> jobs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto job = read_row(text.substr(0, end))) jobs.push_back(std::move(*job));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return jobs;
}

}  // namespace podium
