// podium-worker inspect: verifies a checkpoint and describes it, for people.
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>

#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/run_identity.h"
#include "worker/commands/commands.h"

namespace podium {
namespace {

constexpr char kInspectExamples[] = R"(
Examples:
  podium-worker inspect podium-run/checkpoints/step-00000200
  podium-worker inspect podium-run/checkpoints/step-00000200 > /dev/null && echo whole

Reads every file and compares its checksum, so that a checkpoint of hundreds of gigabytes takes a while.)";

std::string describe_state(const CheckpointState& state) {
  const auto& [tensor, pipeline, data] = state.layout;
  std::string text =
      fmt::format("step {} of job \"{}\", in phase {}, after {} sequences{}\n", state.step, state.spec.name,
                  state.phase + 1, state.samples, state.target_reached ? ", target reached" : "");
  text += fmt::format("written by {} rank{}: tensor {} x pipeline {} x data {}{}\n", state.layout.world(),
                      state.layout.world() == 1 ? "" : "s", tensor, pipeline, data,
                      state.spec.parallel.distributed_optimizer ? ", optimizer distributed" : "");
  if (state.spec.training.precision == Precision::fp16)
    text += fmt::format("loss scale {}\n", state.loss_scaler.scale);
  if (state.loss_scaler.skipped > 0)
    text += fmt::format("{} batches skipped, because their gradients were not finite\n",
                        state.loss_scaler.skipped);
  if (state.origin.known()) text += "begun with the weights of " + describe(state.origin) + "\n";
  if (state.best.known())
    text += fmt::format("best so far: {} {:.6g} at step {}\n", state.best.metric, state.best.value,
                        state.best.step);
  if (!state.text.xxh3.empty())
    text += fmt::format("trained on {} tokens of text, XXH3 {}\n", state.text.tokens, state.text.xxh3);
  return text + fmt::format("fingerprint of model and training: {}\n", run_fingerprint(state.spec));
}

std::string describe_parameters(const CheckpointManifest& manifest) {
  std::map<std::string, Box> parameters;
  for (const auto& [name, part] : manifest.files)
    for (const Piece& piece : part.pieces) parameters[piece.parameter] = whole_box(piece.box.full);
  std::string text = "\nparameters, each with its weights and the optimizer's states in F32:\n";
  std::int64_t elements = 0;
  for (const auto& [name, box] : parameters) {
    text += fmt::format("  {} [{}]\n", name, fmt::join(box.full, ", "));
    elements += box.size();
  }
  return text + fmt::format("{} parameters in {} tensors\n", elements, parameters.size());
}

std::string describe(const CheckpointManifest& manifest) {
  std::string text = describe_state(manifest.state) + "\n";
  std::int64_t bytes = 0;
  for (const auto& [name, part] : manifest.files) {
    text += fmt::format("  {}  {} bytes, {} pieces, XXH3 {}: whole\n", name, part.digest.bytes,
                        part.pieces.size(), part.digest.xxh3);
    bytes += part.digest.bytes;
  }
  return text +
         fmt::format("{} bytes in {} file{}\n", bytes, manifest.files.size(),
                     manifest.files.size() == 1 ? "" : "s") +
         describe_parameters(manifest);
}

}  // namespace

void add_inspect(CLI::App& app) {
  const auto checkpoint = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("inspect", "Verify a checkpoint and list what is in it");
  command->footer(kInspectExamples);
  command->add_option("checkpoint", *checkpoint, "Folder such as checkpoints/step-00000200")->required();
  command->callback(
      [checkpoint] { std::fputs(describe(read_whole_checkpoint(*checkpoint)).c_str(), stdout); });
}

}  // namespace podium
