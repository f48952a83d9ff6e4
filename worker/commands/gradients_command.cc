// podium-worker gradients: see gradients.h.
#include <CLI/CLI.hpp>
#include <memory>

#include "worker/commands/commands.h"
#include "worker/commands/compute_arguments.h"
#include "worker/commands/gradients.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/signals.h"

namespace podium {
namespace {

constexpr char kGradientsExamples[] = R"(
Examples:
  podium-worker gradients --init bert-mini --batch batch.safetensors --out grads.safetensors
  podium-worker gradients --init gpt2 --batch batch.safetensors --out grads.safetensors --tensor 2 --pipeline 2

The batch holds integers: input_ids and labels [sequences, length], -100 where nothing is scored; optional are
attention_mask (ones, then zeros), and for BERT token_type_ids and next_sentence_label [sequences]. GPT's labels are
shifted inside: pass input_ids again. There is no dropout. The loss is the mean over scored tokens, for BERT plus the
mean over next-sentence labels; it is printed and kept in the output's metadata.)";

WorkerExit run_gradients(const GradientsRun& run) {
  if (run.world() > 1 && !run.rank)
    return static_cast<WorkerExit>(start_gradients(run, std::filesystem::read_symlink("/proc/self/exe")));
  const StopSignals signals;
  compute_gradients(run, signals.stop());
  return WorkerExit::done;
}

// How start_gradients tells a process which rank it is; not for people.
void add_rank(CLI::App& command, GradientsRun& run) {
  const auto rank = [&run]() -> GradientsRank& { return run.rank ? *run.rank : run.rank.emplace(); };
  command.add_option_function<int>("--rank", [rank](int value) { rank().rank = value; })->group("");
  command
      .add_option_function<std::string>("--meeting",
                                        [rank](const std::string& value) { rank().meeting = value; })
      ->group("");
}

}  // namespace

void add_gradients(CLI::App& app, WorkerExit& exit) {
  const auto arguments = std::make_shared<GradientsRun>();
  CLI::App* command =
      app.add_subcommand("gradients", "Loss and all gradients of a Hugging Face model for one given batch");
  command->footer(kGradientsExamples);
  command->add_option("--init", arguments->init, "Folder with config.json and model.safetensors")->required();
  command->add_option("--batch", arguments->batch, "Safetensors file with the batch")->required();
  command->add_option("--out", arguments->out, "Safetensors file for the gradients")->required();
  add_training_precision(*command, arguments->precision);
  command->add_option("--tensor", arguments->tensor, "Processes that share each layer")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_option("--pipeline", arguments->pipeline, "Stages the layers are cut into")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_flag("--gpu", arguments->gpu, "Compute on this machine's GPUs; else on its CPU");
  command->add_option("--threads", arguments->threads, "Threads of each process; 0 shares the machine's")
      ->check(thread_count());
  add_rank(*command, *arguments);
  command->callback([arguments, &exit] { exit = run_gradients(*arguments); });
}

}  // namespace podium
