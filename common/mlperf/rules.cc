#include "common/mlperf/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace podium::mlperf {
namespace {

bool is_text(const Line& line) {
  return line.value.is_string() && !line.value.get_ref<const std::string&>().empty();
}

bool has_value(const Line& line) { return !line.value.is_null() && line.value != ""; }

template <class Find>
bool is_word(const Line& line, const Find& find) {
  return line.value.is_string() && find(line.value.get_ref<const std::string&>()).has_value();
}

bool is_number(const Line& line, double number) {
  return line.value.is_number() && line.value.get<double>() == number;
}

bool has_count(const Line& line, const char* name) { return line.number_in(name).value_or(-1) >= 0; }

bool has_epoch(const Line& line) {
  return has_count(line, "epoch_num") || has_count(line, "samples_count") || has_count(line, "step_num");
}

bool has_epochs(const Line& line) {
  const auto count = line.number_in("epoch_count");
  return (count && *count > 0 && has_count(line, "first_epoch_num")) || has_count(line, "samples_count") ||
         has_count(line, "step_num");
}

constexpr std::array kDemands{
    Demand{"text", "a text that is not empty", is_text},
    Demand{"value", "a value", has_value},
    Demand{"positive", "a number above 0",
           [](const Line& line) { return line.value.is_number() && line.value.get<double>() > 0; }},
    Demand{"division", "closed or open", [](const Line& line) { return is_word(line, find_division); }},
    Demand{"status", "cloud, onprem, preview or research",
           [](const Line& line) { return is_word(line, find_status); }},
    Demand{"run-status", "metadata.status",
           [](const Line& line) { return line.metadata.contains("status"); }},
    Demand{"epoch", "a number in metadata.epoch_num, or in samples_count", has_epoch},
    Demand{"epochs", "numbers in metadata.first_epoch_num and epoch_count, above 0, or in samples_count",
           has_epochs},
    Demand{"first-epoch", "a number in metadata.first_epoch_num, or in samples_count",
           [](const Line& line) { return has_count(line, "first_epoch_num") || has_epoch(line); }},
    Demand{"evaluation", "a number, and one in metadata.epoch_num, or in samples_count",
           [](const Line& line) { return has_epoch(line) && line.value.is_number(); }},
    Demand{"tensor", "metadata.tensor", [](const Line& line) { return line.metadata.contains("tensor"); }},
    Demand{"2048", "2048", [](const Line& line) { return is_number(line, 2048); }},
    Demand{"adam", "adam", [](const Line& line) { return line.value == "adam"; }},
    Demand{"gpt3-rate", "2e-05 or 3e-05",
           [](const Line& line) { return is_number(line, 2e-5) || is_number(line, 3e-5); }},
    Demand{"cosine", "cosine with linear warmup",
           [](const Line& line) { return line.value == "cosine with linear warmup"; }},
    Demand{"0.9", "0.9", [](const Line& line) { return is_number(line, 0.9); }},
    Demand{"0.95", "0.95", [](const Line& line) { return is_number(line, 0.95); }},
    Demand{"1e-8", "1e-08", [](const Line& line) { return is_number(line, 1e-8); }},
    Demand{"1.0", "1.0", [](const Line& line) { return is_number(line, 1.0); }},
};

constexpr KeyRule one(const char* key, const char* demand = nullptr, Where where = Where::all) {
  return {.key = key, .count = Count::one, .where = where, .demand = demand};
}

constexpr KeyRule one_of(Where where, const char* key, const char* demand = nullptr) {
  return one(key, demand, where);
}

constexpr KeyRule some(const char* key, const char* instead = nullptr, const char* demand = nullptr) {
  return {.key = key, .count = Count::some, .instead = instead, .demand = demand};
}

constexpr KeyRule until(Round last, KeyRule rule) {
  rule.to = last;
  return rule;
}

constexpr KeyRule since(Round first, KeyRule rule) {
  rule.from = first;
  return rule;
}

constexpr KeyRule any(const char* key, const char* demand) {
  return {.key = key, .count = Count::any, .demand = demand};
}

constexpr std::array kKeyRules{
    one("submission_org", "text"),
    one("submission_platform", "text"),
    one("submission_division", "division"),
    one("submission_benchmark", "text"),
    until({4, 0}, one("submission_status", "status")),
    some("cache_clear", nullptr, nullptr),
    some("init_start"),
    one("init_stop"),
    one("run_start"),
    one("run_stop", "run-status"),
    some("block_start", "epoch_start", "epochs"),
    some("block_stop", "epoch_stop", "first-epoch"),
    any("epoch_start", "epoch"),
    any("epoch_stop", "epoch"),
    some("eval_start", "block_start", "epoch"),
    some("eval_stop", "block_stop", "epoch"),
    some("eval_accuracy", nullptr, "evaluation"),
    one("train_samples", "value"),
    one("eval_samples", "value"),
    since({1, 0}, one("gradient_accumulation_steps", "positive", Where::closed)),

    one_of(Where::bert, "global_batch_size", "positive"),
    one_of(Where::bert, "opt_base_learning_rate"),
    until({2, 0}, one_of(Where::bert, "opt_epsilon")),
    since({2, 1}, one_of(Where::bert, "opt_lamb_epsilon")),
    one_of(Where::bert, "opt_lamb_beta_1"),
    one_of(Where::bert, "opt_lamb_beta_2"),
    one_of(Where::bert, "opt_lamb_weight_decay_rate"),
    one_of(Where::bert, "opt_learning_rate_training_steps"),
    one_of(Where::bert, "opt_learning_rate_warmup_steps"),
    one_of(Where::bert, "num_warmup_steps"),
    one_of(Where::bert, "start_warmup_step"),
    since({1, 0}, until({2, 1}, {.key = "weights_initialization",
                                 .count = Count::some,
                                 .where = Where::bert,
                                 .demand = "tensor"})),

    one_of(Where::gpt3, "global_batch_size", "positive"),
    one_of(Where::gpt3, "max_sequence_length", "2048"),
    one_of(Where::gpt3, "opt_name", "adam"),
    one_of(Where::gpt3, "opt_base_learning_rate", "gpt3-rate"),
    one_of(Where::gpt3, "opt_end_learning_rate"),
    one_of(Where::gpt3, "opt_learning_rate_decay_steps"),
    one_of(Where::gpt3, "opt_learning_rate_warmup_steps"),
    one_of(Where::gpt3, "opt_learning_rate_decay_schedule", "cosine"),
    one_of(Where::gpt3, "opt_adam_beta_1", "0.9"),
    one_of(Where::gpt3, "opt_adam_beta_2", "0.95"),
    one_of(Where::gpt3, "opt_adam_epsilon", "1e-8"),
    one_of(Where::gpt3, "opt_gradient_clip_norm", "1.0"),
    one_of(Where::gpt3, "trained_samples"),
    one_of(Where::gpt3, "init_checkpoint_step", "positive"),
};

}  // namespace

std::span<const KeyRule> key_rules() { return kKeyRules; }

bool applies(const KeyRule& rule, Round round, Division division, std::optional<Benchmark> benchmark) {
  if (round < rule.from || rule.to < round) return false;
  if (rule.where == Where::all) return true;
  if (division != Division::closed) return false;
  if (rule.where == Where::closed) return true;
  return benchmark == (rule.where == Where::bert ? Benchmark::bert : Benchmark::gpt3);
}

const Demand* find_demand(std::string_view name) {
  const auto found =
      std::ranges::find(kDemands, name, [](const Demand& each) { return std::string_view(each.name); });
  return found == kDemands.end() ? nullptr : &*found;
}

std::vector<std::string> bert_tensors() {
  constexpr int kLayers = 24;
  std::vector<std::string> names{"bert/embeddings/word_embeddings",
                                 "bert/embeddings/position_embeddings",
                                 "bert/embeddings/token_type_embeddings",
                                 "bert/embeddings/LayerNorm/gamma",
                                 "bert/embeddings/LayerNorm/beta",
                                 "bert/pooler/dense/kernel",
                                 "bert/pooler/dense/bias",
                                 "cls/predictions/output_bias",
                                 "cls/predictions/transform/dense/kernel",
                                 "cls/predictions/transform/dense/bias",
                                 "cls/predictions/transform/LayerNorm/gamma",
                                 "cls/predictions/transform/LayerNorm/beta",
                                 "cls/seq_relationship/output_weights",
                                 "cls/seq_relationship/output_bias"};
  for (int layer = 0; layer < kLayers; ++layer) {
    const auto add = [&](const char* of, std::initializer_list<const char*> parts) {
      for (const char* part : parts)
        names.push_back(fmt::format("bert/encoder/layer_{}/{}/{}", layer, of, part));
    };
    for (const char* of : {"attention/self/query", "attention/self/key", "attention/self/value",
                           "attention/output/dense", "intermediate/dense", "output/dense"})
      add(of, {"kernel", "bias"});
    for (const char* of : {"attention/output/LayerNorm", "output/LayerNorm"}) add(of, {"gamma", "beta"});
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace podium::mlperf
