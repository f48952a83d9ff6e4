// podium-worker: the training program. Exit codes are WorkerExit's (common/model/launch.h).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "common/base/logging.h"
#include "worker/data/bad_data.h"
#include "worker/local_run.h"
#include "worker/signals.h"
#include "worker/tools.h"
#include "worker/train/failure.h"
#include "worker/train/run.h"

namespace {

using namespace podium;

constexpr char kExamples[] = R"(
Examples:
  podium-worker run launch.json                 one rank, as an agent starts it
  podium validate job.yaml --json | jq .normalised > job.json
  podium-worker local job.json --devices 2      a whole job on this machine
  podium-worker vocab --size 2048 --out vocab.txt 'corpus/*.txt'
  podium-worker inspect checkpoints/step-00000200

Exit codes: 0 done, 64 bad spec, 65 bad data, 73 cannot write, 74 another rank is lost,
75 port taken, 76 training diverged, 77 no such device, 1 anything else.
)";

struct Arguments {
  std::string launch;
  std::string spec;
  LocalRun local;
  std::vector<std::string> corpus;
  int vocabulary_size = 30522;
  bool cased = false;
  std::string out;
  std::string checkpoint;
};

// Reads a JSON file that the user names; a malformed one is a bad spec.
template <class Parse>
auto read_json(const std::string& path, const Parse& parse) {
  try {
    return parse(nlohmann::json::parse(read_file(path)));
  } catch (const std::exception& error) {
    throw Failure(WorkerExit::bad_spec, "cannot use " + path + ": " + error.what());
  }
}

WorkerExit run_task(const Arguments& arguments) {
  const StopSignals signals;
  return run_worker(read_json(arguments.launch, launch_from_json), signals.stop());
}

WorkerExit run_local(Arguments arguments) {
  arguments.local.spec = read_json(arguments.spec, job_spec_from_json);
  arguments.local.program = std::filesystem::read_symlink("/proc/self/exe");
  return static_cast<WorkerExit>(run_locally(arguments.local));
}

void add_commands(CLI::App& app, Arguments& arguments, WorkerExit& exit) {
  CLI::App* run = app.add_subcommand("run", "Run one rank of a job");
  run->add_option("launch", arguments.launch, "launch.json")->required();
  run->callback([&] { exit = run_task(arguments); });

  CLI::App* local = app.add_subcommand("local", "Run a whole job on this machine");
  local->add_option("spec", arguments.spec, "Normalised job spec, JSON")->required();
  local->add_option("--devices", arguments.local.devices, "Processes to start")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  local->add_option("--threads", arguments.local.threads, "Threads of each process; 0 shares the machine's");
  local->add_option("--data", arguments.local.data_folder, "Folder where relative data paths begin")
      ->default_val(".");
  local->add_option("--out", arguments.local.out_folder, "Folder for events and checkpoints")
      ->default_val("podium-run");
  local->callback([&] { exit = run_local(arguments); });

  CLI::App* vocab = app.add_subcommand("vocab", "Build a WordPiece vocabulary from text");
  vocab->add_option("corpus", arguments.corpus, "Text files or globs")->required();
  vocab->add_option("--size", arguments.vocabulary_size, "Tokens")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  vocab->add_flag("--cased", arguments.cased, "Keep capitals and accents");
  vocab->add_option("--out", arguments.out, "Where vocab.txt goes")->required();
  vocab->callback([&] {
    build_vocabulary(arguments.corpus, arguments.vocabulary_size, !arguments.cased, arguments.out);
  });

  CLI::App* inspect = app.add_subcommand("inspect", "Verify a checkpoint and list what is in it");
  inspect->add_option("checkpoint", arguments.checkpoint, "Folder such as checkpoints/step-00000200")
      ->required();
  inspect->callback([&] { std::fputs(describe_checkpoint(arguments.checkpoint).c_str(), stdout); });
}

}  // namespace

int main(int argc, char** argv) {
  set_up_logging("podium-worker", "info");
  CLI::App app("Podium's training program.", "podium-worker");
  app.footer(kExamples);
  app.require_subcommand(1);
  Arguments arguments;
  WorkerExit exit = WorkerExit::done;
  add_commands(app, arguments, exit);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = error.get_exit_code() == 0;
    app.exit(error);
    exit = asked_for_help ? WorkerExit::done : WorkerExit::bad_spec;
  } catch (const Failure& failure) {
    spdlog::error("{}", failure.what());
    exit = failure.exit;
  } catch (const BadData& error) {
    spdlog::error("{}", error.what());
    exit = WorkerExit::bad_data;
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    exit = WorkerExit::bug;
  }
  return static_cast<int>(exit);
}
