// What BERT's pre-training teaches: which tokens stand where a text has [MASK], and whether one sentence
// follows another.
#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "worker/commands/json_lines.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/output.h"
#include "worker/commands/predict/prediction.h"
#include "worker/data/failure.h"
#include "worker/infer/finite_results.h"
#include "worker/infer/text_answers.h"
#include "worker/input/bad_data.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

// A text with [MASK]s or, where there is a `next`, a pair of sentences.
struct AskedText {
  LineId id;
  std::string origin, text;
  std::optional<std::string> next;
  TextSequence sequence = {};
};

AskedText asked_by(const JsonLine& line) {
  AskedText asked{.id = line.id(), .origin = line.origin()};
  if (line.has("next")) {
    asked.text = line.text("sentence");
    asked.next = line.text("next");
    line.refuse_others({"sentence", "next"});
  } else {
    asked.text = line.text("text");
    line.refuse_others({"text"});
  }
  return asked;
}

class TextPrediction final : public Prediction {
 public:
  std::string_view ability() const override { return "predicts masked tokens or next sentences"; }
  void add_options(CLI::App& options) override;
  bool is_asked() override;
  bool suits(const BertWeights& weights) const override {
    return weights.prediction.has_value() || weights.next_sentence.has_value();
  }
  void run(const PredictArguments& arguments, PredictModel& model) override;

 private:
  std::optional<std::string> mask_, sentence_, next_;
  int top_ = 5;
};

// One run of the command.
class TextTeller {
 public:
  TextTeller(const PredictArguments& arguments, PredictModel& model, int top)
      : arguments_(arguments),
        model_(model),
        top_(top),
        inference_(model.compute.context, model.weights, model.tokenizer->special()) {}

  // With its sequence. Throws BadData where the model cannot answer it.
  AskedText prepared(AskedText asked);
  void tell(std::span<const AskedText> asked);
  std::int64_t cut() const { return cut_; }

 private:
  std::string told(const AskedText& asked, const TextResult& result) const;

  const PredictArguments& arguments_;
  PredictModel& model_;
  int top_;
  TextInference inference_;
  std::int64_t cut_ = 0;
};

void TextTeller::tell(std::span<const AskedText> asked) {
  std::vector<TextSequence> sequences;
  std::ranges::transform(asked, std::back_inserter(sequences), &AskedText::sequence);
  std::vector<TextResult> results = inference_.run(sequences, top_);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].finite) refuse_not_finite(asked[i].origin);
    drop_unknown(results[i], *model_.tokenizer);
    print_output(told(asked[i], results[i]));
  }
}

AskedText TextTeller::prepared(AskedText asked) {
  TextSequence& sequence = asked.sequence;
  sequence =
      encode_text(*model_.tokenizer, asked.text, asked.next,
                  {.tokens = model_.source.spec.max_positions, .cut = arguments_.truncate}, asked.origin);
  if (asked.next && !model_.weights.next_sentence)
    throw BadData(model_.source.origin + " has no head that judges whether a sentence follows another");
  if (!asked.next && sequence.masked.empty())
    throw BadData(fmt::format("{}: no [MASK] is in the text{}", asked.origin,
                              sequence.cut ? " that --truncate leaves" : ""));
  check_masks(std::span(&sequence, 1), model_.weights, model_.source.origin);
  cut_ += sequence.cut;
  return asked;
}

std::string TextTeller::told(const AskedText& asked, const TextResult& result) const {
  if (!arguments_.json)
    return id_field(asked.id.text()) +
           without_controls(result_text(asked.sequence, result, *model_.tokenizer), "\t\n");
  nlohmann::ordered_json object;
  asked.id.add_to(object);
  object[asked.next ? "sentence" : "text"] = asked.text;
  if (asked.next) object["next"] = *asked.next;
  object.update(result_json(asked.sequence, result, *model_.tokenizer));
  return object.dump() + "\n";
}

bool TextPrediction::is_asked() {
  for (const auto& [option, text] :
       {std::pair{"--mask", &mask_}, std::pair{"--sentence", &sentence_}, std::pair{"--next", &next_}})
    if (*text) check_text(option, **text);
  if (sentence_.has_value() != next_.has_value() || (sentence_ && mask_))
    refuse_spec("give --mask, or --sentence with --next");
  return mask_ || sentence_;
}

void TextPrediction::run(const PredictArguments& arguments, PredictModel& model) {
  TextTeller teller(arguments, model, top_);
  if (mask_) {
    teller.tell({{teller.prepared({.origin = "--mask", .text = *mask_})}});
  } else if (sentence_) {
    teller.tell({{teller.prepared({.origin = "--sentence with --next", .text = *sentence_, .next = next_})}});
  } else {
    for_each_group(
        arguments.jsonl, static_cast<std::size_t>(arguments.batch),
        [&](const JsonLine& line) { return teller.prepared(asked_by(line)); },
        [&](const std::vector<AskedText>& asked) { teller.tell(asked); });
  }
  if (teller.cut() > 0)
    fmt::print(stderr, "{} texts are cut to the model's {} tokens\n", teller.cut(),
               model.source.spec.max_positions);
}

void TextPrediction::add_options(CLI::App& options) {
  options.add_option("--mask", mask_, "A text with one [MASK] or more: which tokens stand there");
  options.add_option("--sentence", sentence_, "A sentence, of which --next may be the next one");
  options.add_option("--next", next_, "The sentence that may follow it: how likely that is");
  options.add_option("--top", top_, "Candidates for each [MASK]")->check(at_least(1))->capture_default_str();
}

}  // namespace

std::unique_ptr<Prediction> make_text_prediction() { return std::make_unique<TextPrediction>(); }

}  // namespace podium
