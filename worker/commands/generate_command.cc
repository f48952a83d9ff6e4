// podium-worker generate: text from a GPT or a Llama.
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "worker/commands/commands.h"
#include "worker/commands/compute_arguments.h"
#include "worker/commands/generate_output.h"
#include "worker/commands/generate_prompts.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/output.h"
#include "worker/data/failure.h"
#include "worker/generate/end_tokens.h"
#include "worker/generate/generator.h"
#include "worker/input/bad_data.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr char kGenerateExamples[] = R"(
Examples:
  podium-worker generate gpt2 --prompt 'The meaning of life is'
  podium-worker generate checkpoints --prompt 'In 1905' --temperature 0.8 --top-k 40 --max-tokens 200 --stop $'\n'
  podium-worker generate gpt2 --prompt 'Once' --count 4 --seed 7 --top-p 0.9
  podium-worker generate model --jsonl prompts.jsonl --batch 16 --gpu --precision bf16 --json > texts.jsonl

A model is a Hugging Face folder or a checkpoint of gpt or llama; of a folder of checkpoints the newest is taken. What is
printed follows the prompt and does not repeat it. A line of --jsonl is an object with a "prompt", and maybe an "id". The
same seed gives the same text for a prompt, whatever is generated beside it, but for rounding on a GPU. A text
ends at a stop string, which is not printed, at a token that ends a text (eos_token_id of the model's folder, the
tokenizer's <|endoftext|>) or after --max-tokens, and "reason" of --json tells which: "stop", "end" or "length".)";

// So that the list of what is to be told, which is made first, has a bound.
constexpr int kMostSamples = 1 << 16;
constexpr std::size_t kMostTexts = std::size_t{1} << 22;

struct GenerateArguments {
  fs::path model;
  fs::path data = ".";
  std::string tokenizer;
  std::optional<std::string> prompt, jsonl;
  ComputeArguments compute;
  GenerationRule rule;
  std::optional<int> max_tokens;
  bool truncate = false;
  int batch = 8;
  int count = 1;
  bool json = false;
};

std::vector<Prompt> prompts_of(const GenerateArguments& arguments) {
  if (arguments.jsonl) return read_prompts(*arguments.jsonl);
  if (find_invalid_utf8(*arguments.prompt) != std::string::npos) throw BadData("--prompt is no UTF-8");
  return {{"--prompt", {}, *arguments.prompt, {}}};
}

// One of each prompt, for --count samples.
std::vector<GenerationRequest> requests_of(const GenerateArguments& arguments, int positions,
                                           std::vector<Prompt>& prompts) {
  const auto count = static_cast<std::size_t>(arguments.count);
  if (prompts.size() > kMostTexts / count)
    refuse_spec(fmt::format("--count {} of {} prompts are more than {} texts: generate them in parts", count,
                            prompts.size(), kMostTexts));
  std::vector<GenerationRequest> requests;
  for (Prompt& prompt : prompts) {
    const int room = room_after({positions, arguments.max_tokens, arguments.truncate}, prompt);
    requests.push_back({std::move(prompt.ids), 0, room});
  }
  return requests;
}

CacheShape cache_for(const GenerateArguments& arguments, const std::vector<GenerationRequest>& requests) {
  const std::size_t texts = requests.size() * static_cast<std::size_t>(arguments.count);
  CacheShape cache{.slots = static_cast<int>(std::min(texts, static_cast<std::size_t>(arguments.batch)))};
  for (const GenerationRequest& request : requests)
    cache.positions =
        std::max(cache.positions, static_cast<int>(std::ssize(request.prompt)) + request.max_tokens - 1);
  return cache;
}

// Throws Failure(bad_spec) where the memory that there is could not hold it.
void check_memory(const Context& context, const ModelSpec& spec, DType type, const CacheShape& cache) {
  const Device* const device = context.memory.device;
  const std::int64_t has = device != nullptr ? device->description().memory_bytes
                                             : std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  const std::int64_t takes = cache_bytes(spec, type, cache);
  if (takes <= has) return;
  constexpr double kGib = 1 << 30;
  refuse_spec(
      fmt::format("{} texts of {} tokens together take {:.4g} GiB, and the {} has {:.4g}: lower --batch or "
                  "--max-tokens",
                  cache.slots, cache.positions, static_cast<double>(takes) / kGib,
                  device != nullptr ? "GPU" : "machine", static_cast<double>(has) / kGib));
}

ordered_json tokens_per_second(std::int64_t tokens, double seconds) {
  if (tokens <= 0 || seconds <= 0) return nullptr;
  return static_cast<double>(tokens) / seconds;
}

// Tells texts as they come, or each as an object when it has ended.
class GenerationPrinter {
 public:
  GenerationPrinter(const GenerateArguments& arguments, const std::vector<Prompt>& prompts,
                    const std::vector<GenerationRequest>& requests)
      : arguments_(arguments),
        prompts_(prompts),
        requests_(requests),
        count_(static_cast<std::size_t>(arguments.count)),
        texts_(requests.size() * count_),
        ordered_(texts_.size(), [](std::string_view text) {
          print_output(text);
          flush_output();
        }) {
    if (!arguments.json) ordered_.add(0, heading(0));
  }

  GenerationListener listener() {
    return {[this](std::size_t request, std::string_view text) { add(request, text); },
            [this](std::size_t request, const Generation& done) { end(request, done); }};
  }

 private:
  // Of several texts each has one.
  std::string heading(std::size_t text) const {
    if (texts_.size() == 1) return "";
    return fmt::format("== prompt {}, sample {}\n", text / count_ + 1, text % count_ + 1);
  }

  void add(std::size_t request, std::string_view text) {
    if (arguments_.json)
      texts_[request] += text;
    else
      ordered_.add(request, text);
  }

  void end(std::size_t request, const Generation& done) {
    ordered_.add(request, arguments_.json ? object(request, done).dump() + "\n" : "\n");
    texts_[request].clear();
    if (!arguments_.json && request + 1 < texts_.size()) ordered_.add(request, heading(request + 1));
    ordered_.end(request);
  }

  ordered_json object(std::size_t text, const Generation& done) const {
    const auto prompt_tokens = std::ssize(requests_[text / count_].prompt);
    ordered_json object;
    prompts_[text / count_].id.add_to(object);
    object.update(
        {{"number", text / count_ + 1},
         {"sample", text % count_ + 1},
         {"text", texts_[text]},
         {"ids", done.ids},
         {"reason", to_string(done.reason)},
         {"prompt_tokens", prompt_tokens},
         {"prefill_tokens_per_second", tokens_per_second(prompt_tokens, done.prefill_seconds)},
         {"decode_tokens_per_second", tokens_per_second(std::ssize(done.ids) - 1, done.decode_seconds)}});
    return object;
  }

  const GenerateArguments& arguments_;
  const std::vector<Prompt>& prompts_;
  const std::vector<GenerationRequest>& requests_;
  std::size_t count_;
  std::vector<std::string> texts_;
  OrderedTexts ordered_;
};

// What can be refused is, before the weights are read.
void run_generate(const GenerateArguments& arguments) {
  std::vector<Prompt> prompts = prompts_of(arguments);
  SourceModel model = find_source_model(arguments.model, arguments.data);
  const InferencePrecision precision = precision_of(arguments.compute, model);
  Compute compute(arguments.compute);
  check_language_model(compute.context, model, precision);
  const auto tokenizer = byte_pairs_of(model, arguments.tokenizer);
  GenerationRule rule = arguments.rule;
  rule.ends = end_tokens(model.folder, *tokenizer);
  encode_prompts(*tokenizer, rule.ends, prompts);
  const std::vector<GenerationRequest> requests = requests_of(arguments, model.spec.max_positions, prompts);
  const CacheShape cache = cache_for(arguments, requests);
  check_memory(compute.context, model.spec, product_type(precision), cache);
  read_tensors(model);
  LanguageWeights weights = make_language_weights(compute.context, std::move(model), precision);
  GenerationSession session(compute.context, weights, cache);
  GenerationPrinter printer(arguments, prompts, requests);
  const GenerationTotals totals = generate(session, *tokenizer, requests, rule, printer.listener(),
                                           static_cast<std::size_t>(arguments.count));
  fmt::print(stderr, "read {} tokens at {:.4g} a second", totals.prompt_tokens, totals.prefill_rate());
  if (totals.steps_tokens > 0)
    fmt::print(stderr, ", wrote {} at {:.4g} a second", totals.steps_tokens, totals.decode_rate());
  fmt::print(stderr, "\n");
}

void add_sampling_options(CLI::App& command, GenerateArguments& arguments) {
  command
      .add_option("--max-tokens", arguments.max_tokens,
                  "Tokens of a text at most (default: 128, or as many as the model has positions for)")
      ->check(at_least(1));
  command
      .add_option("--temperature", arguments.rule.sampling.temperature,
                  "Below 1 likelier tokens become likelier still; 0 takes the likeliest")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command.add_option("--top-k", arguments.rule.sampling.top_k, "Only the K likeliest tokens; 0: all")
      ->check(at_least(0))
      ->capture_default_str();
  command
      .add_option("--top-p", arguments.rule.sampling.top_p,
                  "Only the fewest likeliest tokens that together have this probability")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--seed", arguments.rule.seed, "Of the draws")
      ->check(unsigned_64())
      ->capture_default_str();
  command
      .add_option("--stop", arguments.rule.stops, "Text before which a generated one ends; may be repeated")
      ->allow_extra_args(false)
      ->check([](const std::string& stop) {
        return stop.empty() || find_invalid_utf8(stop) != std::string::npos ? "is empty or no UTF-8" : "";
      });
  command.add_option("--count", arguments.count, "Texts of each prompt")
      ->check(CLI::Range(1, kMostSamples))
      ->capture_default_str();
  command.add_flag("--truncate-prompt", arguments.truncate,
                   "Of a prompt too long for the model's positions keep the end");
}

}  // namespace

void add_generate(CLI::App& app) {
  const auto arguments = std::make_shared<GenerateArguments>();
  CLI::App* command = app.add_subcommand("generate", "Write text that follows a prompt");
  command->footer(kGenerateExamples);
  command->add_option("model", arguments->model, "Hugging Face folder, checkpoint, or folder of checkpoints")
      ->required();
  CLI::Option* prompt = command->add_option("--prompt", arguments->prompt, "The text to go on from");
  CLI::Option* jsonl =
      command->add_option("--jsonl", arguments->jsonl, "File of prompts, or - for standard input")
          ->excludes(prompt);
  add_sampling_options(*command, *arguments);
  command->add_option("--batch", arguments->batch, "Texts generated together")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  command->add_option("--tokenizer", arguments->tokenizer,
                      "bpe:VOCAB.json,MERGES.txt or a folder, in place of the model's own");
  command->add_option("--data", arguments->data, "Folder where the paths of a checkpoint's spec begin")
      ->capture_default_str();
  command->add_option("--precision", arguments->compute.precision,
                      "fp32, bf16 or fp16; else fp32 on the CPU, fp16 on a GPU");
  add_device_arguments(*command, arguments->compute);
  command->add_flag("--json", arguments->json, "One object a text");
  command->callback([=] {
    if (prompt->count() + jsonl->count() == 0) refuse_spec("give --prompt or --jsonl");
    if (arguments->jsonl && arguments->jsonl->empty())
      refuse_spec("--jsonl is empty: name a file, or - for standard input");
    const SamplingRule& sampling = arguments->rule.sampling;
    if (std::isnan(sampling.temperature) || std::isnan(sampling.top_p))
      refuse_spec("--temperature and --top-p are numbers");
    run_generate(*arguments);
  });
}

}  // namespace podium
