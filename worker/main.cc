// podium-worker: the training program. Exit codes are WorkerExit's (common/model/launch.h).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/file.h"
#include "common/base/logging.h"
#include "worker/commands/commands.h"
#include "worker/commands/file_limit.h"
#include "worker/commands/output.h"
#include "worker/commands/run.h"
#include "worker/commands/signals.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/train/leave_process.h"

namespace {

using namespace podium;

constexpr char kExamples[] = R"(
Examples:
  podium-worker run launch.json                 one rank, as an agent starts it
  podium-worker local job.yaml --devices 2      a whole job on this machine
  podium-worker vocab --size 2048 --out vocab.txt 'corpus/*.txt'
  podium-worker vocab --bpe --size 8192 --out tokenizer 'corpus/*.txt'
  podium-worker tokenize --tokenizer wordpiece:vocab.txt < lines.txt
  podium-worker prepare --tokenizer gpt2 --append-eod --out data/all 'books/*.txt.zst'
  podium-worker predict model --mask 'Paris is in [MASK].'  or a question, or a pair of sentences
  podium-worker score dev-v1.1.json predictions.json        SQuAD's exact match and F1
  podium-worker inspect checkpoints/step-00000200
  podium-worker evaluate gpt2 --wikitext wiki.test.tokens
  podium-worker export checkpoints/step-00000200 --out model
  podium-worker gradients --init bert-mini --batch batch.safetensors --out grads.safetensors
  podium-worker infer model --text lines.txt    fill [MASK], write embeddings
  podium-worker generate model --prompt 'Once upon a time'
  podium-worker serve bert=model                answer requests over HTTP
  podium-worker calibrate model --text 'corpus/*.txt' --out model-int8
  podium-worker latency bert-large --gpu        how long one batch takes
  podium-worker COMMAND --help                  options and examples of a command

Exit codes: 0 done, 64 bad spec, 65 bad data, 73 cannot write a file or not read a checkpoint at present, 74 another rank is
lost, 75 port taken, 76 training diverged, 77 no such device, 79 saved and left when told to, 1 anything else.
)";

constexpr char kRunExamples[] = R"(
Examples:
  podium-worker run podium-run/rank-0/launch.json       as podium-worker local has written it

An agent writes launch.json and starts one process a rank; people start jobs with podium-worker local.)";

struct Arguments {
  std::string launch;
};

std::pair<Launch, LaunchClock> read_launch(const std::string& path) {
  try {
    const auto told = nlohmann::json::parse(read_file(path));
    return {launch_from_json(told), clock_in(told)};
  } catch (const std::exception& error) {
    throw Failure(WorkerExit::bad_spec, "cannot use " + path + ": " + error.what());
  }
}

WorkerExit run_task(const Arguments& arguments) {
  const StopSignals signals;
  const auto [launch, clock] = read_launch(arguments.launch);
  return run_worker(launch, clock, signals.stop());
}

void add_commands(CLI::App& app, Arguments& arguments, WorkerExit& exit) {
  CLI::App* run = app.add_subcommand("run", "Run one rank of a job");
  run->footer(kRunExamples);
  run->add_option("launch", arguments.launch, "launch.json")->required();
  run->callback([&] { exit = run_task(arguments); });

  add_calibrate(app);
  add_evaluate(app, exit);
  add_export(app);
  add_generate(app);
  add_gradients(app, exit);
  add_prepare(app, exit);
  add_profile(app, exit);
  add_infer(app);
  add_inspect(app);
  add_latency(app);
  add_local(app, exit);
  add_predict(app);
  add_score(app);
  add_serve(app);
  add_tokenize(app);
  add_vocab(app);
}

// A command whose output is lost, as on a full disk, has not done its work.
WorkerExit check_output(WorkerExit exit) {
  if (exit != WorkerExit::done) return exit;
  try {
    flush_output();
    return exit;
  } catch (const std::system_error& error) {
    spdlog::error("{}", error.what());
    return WorkerExit::bug;
  }
}

}  // namespace

int main(int argc, char** argv) {
  set_up_logging("podium-worker", "info");
  raise_file_limit();
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
  } catch (const std::filesystem::filesystem_error& error) {  // of a path that somebody named
    spdlog::error("{}: {}; look whether it is there and may be used", error.path1().string(),
                  error.code().message());
    const bool full =
        error.code() == std::errc::no_space_on_device || error.code() == std::errc::read_only_file_system;
    exit = full ? WorkerExit::disk_full : WorkerExit::bad_data;
  } catch (const std::bad_alloc&) {
    spdlog::error("there is not enough memory for this; a smaller batch needs less");
    exit = WorkerExit::bug;
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    exit = WorkerExit::bug;
  }
  leave_process(static_cast<int>(check_output(exit)));
}
