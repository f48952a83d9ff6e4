// podium-worker export: a checkpoint of any layout as a Hugging Face folder.
#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/weights.h"
#include "worker/commands/commands.h"
#include "worker/commands/output.h"
#include "worker/data/failure.h"
#include "worker/formats/hugging_face.h"
#include "worker/formats/new_folder.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kExportExamples[] = R"(
Examples:
  podium-worker export podium-run/checkpoints/step-00000200 --out model --data .
  podium-worker export podium-run/checkpoints/step-00000200 --out model --shard-size 2GB
  podium-worker export podium-run/checkpoints/step-00000200 --out model --head masked-lm

The model is of the class that has the checkpoint's head: BertForPreTraining, BertForQuestionAnswering,
BertForSequenceClassification, GPT2LMHeadModel or LlamaForCausalLM. With --head masked-lm a pre-trained BERT becomes BertForMaskedLM, without pooler and next sentences.

The folder holds config.json, the weights as safetensors and, where --data leads to it, the vocabulary.)";

struct ExportArguments {
  fs::path checkpoint;
  fs::path out;
  fs::path data = ".";
  bool masked_alone = false;
  std::int64_t shard_bytes = std::int64_t{5} * 1000 * 1000 * 1000;
};

void copy_if_there(const fs::path& from, const fs::path& to) {
  if (!fs::exists(from)) {
    fmt::print("not copied: {} is not there; --data says where the spec's paths begin\n", from.string());
    return;
  }
  fs::copy_file(from, to);
}

void copy_tokenizer(const ExportArguments& arguments, const fs::path& out, const TokenizerSpec& tokenizer,
                    int max_positions) {
  nlohmann::json config;
  if (!tokenizer.wordpiece.empty()) {
    copy_if_there(arguments.data / tokenizer.wordpiece, out / "vocab.txt");
    config = {{"tokenizer_class", "BertTokenizer"}, {"do_lower_case", tokenizer.lowercase}};
  } else if (!tokenizer.bpe_vocab.empty()) {
    copy_if_there(arguments.data / tokenizer.bpe_vocab, out / "vocab.json");
    copy_if_there(arguments.data / tokenizer.bpe_merges, out / "merges.txt");
    config = {{"tokenizer_class", "GPT2Tokenizer"}};
  } else {
    return;
  }
  config["model_max_length"] = max_positions;
  write_file_atomic(out / "tokenizer_config.json", config.dump(2) + "\n");
}

ModelHead exported_head(const ExportArguments& arguments, const CheckpointManifest& manifest,
                        const ModelSpec& model) {
  const TrainingTask task = manifest.state.spec.training.task;
  const Family& family = family_of(model);
  if (arguments.masked_alone && (family.token_head == nullptr || task != TrainingTask::pretrain))
    refuse_spec(fmt::format("--head masked-lm is for a BERT of the task pretrain; {} is a {} of the task {}",
                            arguments.checkpoint.string(), to_string(model.family), to_string(task)));
  return arguments.masked_alone ? ModelHead::of_tokens_alone() : head_of(manifest);
}

void export_checkpoint(const ExportArguments& arguments) {
  const CheckpointManifest manifest = read_whole_checkpoint(arguments.checkpoint);
  const ModelSpec model = model_of(manifest);
  const ModelHead head = exported_head(arguments, manifest, model);
  NewFolder folder(arguments.out);
  CheckpointReader reader(arguments.checkpoint, manifest);
  const auto source = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
    return read_full_weight(reader, name, shape);
  };
  write_or_fail([&] {
    write_hugging_face(folder.unfinished(), model, source, arguments.shard_bytes, head);
    copy_tokenizer(arguments, folder.unfinished(), manifest.state.spec.data.tokenizer, model.max_positions);
    folder.finish();
  });
  fmt::print("step {} of job \"{}\" is now the {} model {}\n", manifest.state.step, manifest.state.spec.name,
             to_string(model.family), arguments.out.string());
}

}  // namespace

void add_export(CLI::App& app) {
  const auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command =
      app.add_subcommand("export", "Make a Hugging Face folder of a checkpoint of any layout");
  command->footer(kExportExamples);
  command->add_option("checkpoint", arguments->checkpoint, "Folder such as checkpoints/step-00000200")
      ->required();
  command->add_option("--out", arguments->out, "Folder to make, or an empty one")->required();
  command->add_option("--data", arguments->data, "Folder where the spec's paths begin, for the vocabulary")
      ->capture_default_str();
  command
      ->add_option_function<std::string>(
          "--head", [arguments](const std::string&) { arguments->masked_alone = true; },
          "masked-lm: of a pre-trained BERT's head what predicts masked tokens, without next sentences")
      ->check(CLI::IsMember({"masked-lm"}).description(""));
  command->add_option("--shard-size", arguments->shard_bytes, "Largest file of weights, such as 5GB")
      ->transform(CLI::AsSizeValue(true))
      ->check(at_least(1))
      ->default_str("5GB");
  command->callback([arguments] { export_checkpoint(*arguments); });
}

}  // namespace podium
