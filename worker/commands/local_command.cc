// podium-worker local: a whole job on this machine. The ranks log their progress on standard error; what the
// run came to is told on standard output at the end.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "common/base/logging.h"
#include "worker/commands/commands.h"
#include "worker/commands/local_run.h"
#include "worker/commands/local_summary.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/spec_arguments.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kLocalExamples[] = R"(
Examples:
  podium-worker local configs/bert-mini.yaml
  podium-worker local configs/gpt-mini.yaml --devices 4 --tensor 2 --pipeline 2
  podium-worker local configs/bert-mini.yaml --set training.schedule.steps=20 --set training.precision=fp32
  podium-worker local configs/scaling-study.yaml --devices 2     # the study's job of two devices
  podium-worker local configs/serve-answers.yaml                 # a replica of a service, whose address is printed
  podium-worker local configs/gpt-mini.yaml --json | jq '.metrics["train/loss"]'

Relative data paths begin at --data. Started again with the same --out, a job goes on from its newest checkpoint.)";

struct LocalArguments {
  SpecArguments spec;
  LocalRun run;
  bool json = false;
};

std::int64_t size_of(const fs::path& path) {
  return fs::exists(path) ? static_cast<std::int64_t>(fs::file_size(path)) : 0;
}

WorkerExit run_local(LocalArguments arguments) {
  std::vector<std::string> notes;
  LocalRun& local = arguments.run;
  local.spec = read_spec(arguments.spec, notes);
  for (const std::string& note : notes) spdlog::info("{}", note);
  local.program = fs::read_symlink("/proc/self/exe");
  std::vector<std::int64_t> begins;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(local.spec.resources.devices); ++rank)
    begins.push_back(size_of(events_of(local.out_folder, rank)));
  const auto exit = static_cast<WorkerExit>(run_locally(local));
  if (local.spec.serve) return exit;
  const LocalSummary summary =
      summarise(events_of(local.out_folder, 0), begins[0], local.out_folder / "checkpoints");
  const std::string text =
      arguments.json ? to_json(summary, local.spec).dump(2) + "\n" : summary_text(summary, local.spec);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  if (exit == WorkerExit::done) return exit;
  if (const std::string why = first_failure(local.out_folder, begins); !why.empty()) spdlog::error("{}", why);
  return exit;
}

}  // namespace

void add_local(CLI::App& app, WorkerExit& exit) {
  const auto arguments = std::make_shared<LocalArguments>();
  CLI::App* command = app.add_subcommand("local", "Train a whole job on this machine, without any daemon");
  command->footer(kLocalExamples);
  add_spec_arguments(*command, arguments->spec);
  command->add_option("--threads", arguments->run.threads, "Threads of each process; 0 shares the machine's")
      ->check(thread_count());
  command->add_option("--data", arguments->run.data_folder, "Folder where relative data paths begin")
      ->default_val(".");
  command->add_option("--out", arguments->run.out_folder, "Folder for events and checkpoints")
      ->default_val("podium-run");
  command->add_flag("--json", arguments->json, "Print the results of the run as JSON");
  command->callback([arguments, &exit] { exit = run_local(*arguments); });
}

}  // namespace podium
