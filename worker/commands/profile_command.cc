// podium-worker profile: see profile_run.h.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "common/base/logging.h"
#include "worker/commands/commands.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/profile_report.h"
#include "worker/commands/profile_run.h"
#include "worker/commands/signals.h"
#include "worker/commands/spec_arguments.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kProfileExamples[] = R"(
Examples:
  podium-worker profile configs/bert-mini.yaml --set training.precision=bf16
  podium-worker profile configs/gpt-mini.yaml --devices 2 --pipeline 2 --out trace.json
  podium-worker profile configs/bert-mini.yaml --json | jq '.ranks[0].memory_bytes'

Trains a few steps of the spec on this machine and keeps nothing but the profile. Time within an op that another op
calls counts as the inner one's. GB/s counts each operand once. Open the trace at https://ui.perfetto.dev.)";

struct ProfileArguments {
  SpecArguments spec;
  ProfileRun run;
  fs::path trace;
  std::size_t most = 30;
  bool json = false;
  bool as_rank = false;  // a process that run_profile started: the spec is its launch.json
};

WorkerExit run_profile(ProfileArguments arguments) {
  if (arguments.as_rank) {
    const StopSignals signals;
    return profile_rank(arguments.spec.file, arguments.run.warmup, signals.stop());
  }
  std::vector<std::string> notes;
  LocalRun& local = arguments.run.local;
  local.spec = read_spec(arguments.spec, notes);
  if (local.spec.serve)
    refuse_spec(arguments.spec.file +
                " is a service, and a profile is of training steps; try podium-worker latency");
  for (const std::string& note : notes) spdlog::info("{}", note);
  local.program = fs::read_symlink("/proc/self/exe");
  const ProfileResult result = run_profile(arguments.run, arguments.trace);
  if (result.exit_code != 0) return static_cast<WorkerExit>(result.exit_code);
  const std::string text = arguments.json ? profile_json(local.spec, result.ranks).dump(2) + "\n"
                                          : profile_text(local.spec, result.ranks, arguments.most);
  std::fputs(text.c_str(), stdout);
  return WorkerExit::done;
}

}  // namespace

void add_profile(CLI::App& app, WorkerExit& exit) {
  const auto arguments = std::make_shared<ProfileArguments>();
  CLI::App* command = app.add_subcommand("profile", "Where the time and memory of a few training steps go");
  command->footer(kProfileExamples);
  add_spec_arguments(*command, arguments->spec);
  command->add_option("--steps", arguments->run.steps, "Steps to measure")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_option("--warmup", arguments->run.warmup, "Steps before them that do not count")
      ->check(at_least(0))
      ->capture_default_str();
  command
      ->add_option("--threads", arguments->run.local.threads,
                   "Threads of each process; 0 shares the machine's")
      ->check(thread_count());
  command->add_option("--data", arguments->run.local.data_folder, "Folder where relative data paths begin")
      ->default_val(".");
  command->add_option("--out", arguments->trace, "Trace file for Perfetto or chrome://tracing");
  command->add_option("--most", arguments->most, "Ops to show, the most expensive first")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Everything, as JSON");
  command->add_flag("--as-rank", arguments->as_rank)->group("");
  command->callback([arguments, &exit] { exit = run_profile(*arguments); });
}

}  // namespace podium
