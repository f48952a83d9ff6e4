// podium-worker infer: fills [MASK] in text, judges pairs of sentences and writes embeddings.
#include <fcntl.h>
#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "worker/commands/commands.h"
#include "worker/commands/compute_arguments.h"
#include "worker/commands/named_lines.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/output.h"
#include "worker/data/failure.h"
#include "worker/formats/safetensors.h"
#include "worker/infer/finite_results.h"
#include "worker/infer/text_answers.h"
#include "worker/infer/text_inference.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kInferExamples[] = R"(
Examples:
  echo 'the capital of france is [MASK].' | podium-worker infer bert-base-uncased
  podium-worker infer model --text questions.txt --gpu --precision bf16 --top 3 --json
  podium-worker infer model --text pairs.txt                # "first sentence<TAB>second sentence" on a line
  podium-worker infer model-int8 --text lines.txt --gpu --embeddings lines.safetensors

Each line is a sequence. --json prints one object a line. Embeddings are F32: "mean" [lines, hidden], the mean of the
tokens' last hidden states, and "pooled" [lines, hidden] where the model has a pooler.)";

struct InferArguments {
  ModelArguments model;
  ComputeArguments compute;
  std::string text = "-";
  fs::path embeddings;
  int top = 5;
  int batch = 8;
  bool json = false;
};

struct Lines {
  std::vector<TextSequence> sequences;
  std::vector<std::string> places;  // of each
};

Lines read_lines(const std::string& path, const WordPieceTokenizer& tokenizer, int most) {
  Lines lines;
  for_each_named_line(path, [&](std::string_view line, const LinePlace& place) {
    lines.places.push_back(place.text());
    lines.sequences.push_back(encode_line(tokenizer, line, most, lines.places.back()));
  });
  return lines;
}

std::string answer_json(const TextSequence& sequence, const TextResult& result,
                        const WordPieceTokenizer& tokenizer) {
  nlohmann::json object = result_json(sequence, result, tokenizer);
  object["text"] = sequence.text;
  return object.dump() + "\n";
}

class Embeddings {
 public:
  void add(const TextResult& result) {
    mean_.insert(mean_.end(), result.mean.begin(), result.mean.end());
    pooled_.insert(pooled_.end(), result.pooled.begin(), result.pooled.end());
    ++lines_;
  }
  void write(const fs::path& path, std::int64_t hidden) const {
    std::vector<TensorEntry> entries{{"mean", "F32", {lines_, hidden}, std::as_bytes(std::span(mean_))}};
    if (!pooled_.empty())
      entries.push_back({"pooled", "F32", {lines_, hidden}, std::as_bytes(std::span(pooled_))});
    write_or_fail([&] { open_file(path, O_WRONLY | O_CREAT); });  // a file that may not be written stays
    try {
      write_or_fail([&] { write_safetensors(path, std::move(entries), {}); });
    } catch (const Failure&) {
      if (std::error_code error; fs::is_regular_file(path, error)) fs::remove(path, error);  // cut short
      throw;
    }
  }

 private:
  std::vector<float> mean_, pooled_;
  std::int64_t lines_ = 0;
};

void run_infer(const InferArguments& arguments) {
  const SourceModel model = read_model(arguments.model);
  const std::unique_ptr<const WordPieceTokenizer> tokenizer = tokenizer_of(model);
  const Lines lines = read_lines(arguments.text, *tokenizer, model.spec.max_positions);
  const std::vector<TextSequence>& sequences = lines.sequences;
  Compute compute(arguments.compute);
  BertWeights weights =
      make_bert_weights(compute.context, model, {.precision = precision_of(arguments.compute, model)});
  check_masks(sequences, weights, model.origin);
  TextInference inference(compute.context, weights, tokenizer->special());
  Embeddings embeddings;
  const auto batch = static_cast<std::size_t>(arguments.batch);
  for (std::size_t begin = 0; begin < sequences.size(); begin += batch) {
    const auto part = std::span(sequences).subspan(begin, std::min(batch, sequences.size() - begin));
    std::vector<TextResult> results = inference.run(part, arguments.top);
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!results[i].finite) refuse_not_finite(lines.places[begin + i]);
      drop_unknown(results[i], *tokenizer);
      print_output(arguments.json ? answer_json(part[i], results[i], *tokenizer)
                                  : without_controls(result_text(part[i], results[i], *tokenizer), "\t\n"));
      embeddings.add(results[i]);
    }
  }
  if (!arguments.embeddings.empty()) embeddings.write(arguments.embeddings, model.spec.hidden);
}

}  // namespace

void add_infer(CLI::App& app) {
  const auto arguments = std::make_shared<InferArguments>();
  CLI::App* command =
      app.add_subcommand("infer", "Fill [MASK] in text, judge pairs of sentences, write embeddings");
  command->footer(kInferExamples);
  add_model_arguments(*command, arguments->model);
  add_compute_arguments(*command, arguments->compute);
  command->add_option("--text", arguments->text, "File of lines, or - for standard input")
      ->capture_default_str();
  command->add_option("--embeddings", arguments->embeddings, "safetensors file to write");
  command->add_option("--top", arguments->top, "Candidates for each mask")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_option("--batch", arguments->batch, "Lines computed together")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "One object a line");
  command->callback([arguments] { run_infer(*arguments); });
}

}  // namespace podium
