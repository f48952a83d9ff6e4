// What a classifier learnt to tell of a sentence or a pair: its class, or with regression a value.
#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "worker/ask/classes.h"
#include "worker/commands/json_lines.h"
#include "worker/commands/output.h"
#include "worker/commands/predict/prediction.h"
#include "worker/data/failure.h"
#include "worker/infer/finite_results.h"
#include "worker/infer/head_inference.h"
#include "worker/input/bad_data.h"
#include "worker/input/table_file.h"
#include "worker/input/utf8.h"
#include "worker/tasks/classify/labelled_text.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// A sentence, or with a `pair` two.
struct AskedSentence {
  LineId id;
  std::string origin, text;
  std::optional<std::string> pair;
  TextSequence sequence = {};
};

AskedSentence sentence_asked_by(const JsonLine& line) {
  AskedSentence asked{.id = line.id(), .origin = line.origin(), .text = line.text("text")};
  if (line.has("pair")) asked.pair = line.text("pair");
  line.refuse_others({"text", "pair"});
  return asked;
}

ColumnSpec column_of(const std::string& option, const std::string& text) {
  if (text.empty() || text.size() > 5 || text.find_first_not_of("0123456789") != text.npos)
    return {.name = text};
  if (std::stoi(text) < 1) refuse_spec(option + " counts columns from 1");
  return {.number = std::stoi(text)};
}

// One run of the command.
class ClassTeller {
 public:
  ClassTeller(const PredictArguments& arguments, PredictModel& model, const ClassHabits& habits)
      : arguments_(arguments),
        model_(model),
        habits_(habits),
        inference_(model.compute.context, model.weights, model.tokenizer->special()) {}

  // With its sequence. Throws BadData where there is nothing to tell.
  AskedSentence prepared(AskedSentence asked);
  void tell(std::span<const AskedSentence> asked);
  std::int64_t cut() const { return cut_; }

 private:
  std::string told(const AskedSentence& asked, std::span<const float> outputs) const;

  const PredictArguments& arguments_;
  PredictModel& model_;
  const ClassHabits& habits_;
  HeadInference inference_;
  std::int64_t cut_ = 0;
};

class ClassPrediction final : public Prediction {
 public:
  std::string_view ability() const override { return "tells classes of sentences"; }
  void add_options(CLI::App& options) override;
  bool is_asked() override;
  bool suits(const BertWeights& weights) const override { return weights.classifier.has_value(); }
  void run(const PredictArguments& arguments, PredictModel& model) override;

 private:
  void tell_rows(ClassTeller& teller, const ClassifySpec& trained, std::size_t most) const;
  ClassifySpec columns(ClassifySpec trained) const;

  std::optional<std::string> text_, pair_, column_, pair_column_;
  fs::path file_;
  bool no_header_ = false;
};

AskedSentence ClassTeller::prepared(AskedSentence asked) {
  asked.sequence = class_sequence(*model_.tokenizer, asked.text, asked.pair, habits_, arguments_.truncate,
                                  model_.source.origin, asked.origin);
  cut_ += asked.sequence.cut;
  return asked;
}

void ClassTeller::tell(std::span<const AskedSentence> asked) {
  std::vector<TextSequence> sequences;
  std::ranges::transform(asked, std::back_inserter(sequences), &AskedSentence::sequence);
  const std::vector<std::vector<float>> outputs = inference_.class_logits(sequences);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!all_finite(outputs[i])) refuse_not_finite(asked[i].origin);
    print_output(told(asked[i], outputs[i]));
  }
}

std::string ClassTeller::told(const AskedSentence& asked, std::span<const float> outputs) const {
  const std::vector<std::string>& labels = model_.source.head.labels;
  if (!arguments_.json) {
    const std::string id = id_field(asked.id.text());
    if (labels.empty()) return fmt::format("{}{:.6g}\n", id, outputs[0]);
    const std::size_t best = likeliest_class(outputs);
    return fmt::format("{}{}\t{:.4f}\n", id, without_controls(labels[best]), softmax_of(outputs)[best]);
  }
  ordered_json object;
  asked.id.add_to(object);
  object["text"] = asked.text;
  if (asked.pair) object["pair"] = *asked.pair;
  object.update(class_json(outputs, labels));
  return object.dump() + "\n";
}

bool ClassPrediction::is_asked() {
  for (const auto& [option, text] : {std::pair{"--text", &text_}, std::pair{"--pair", &pair_}})
    if (*text) check_text(option, **text);
  if (pair_ && !text_) refuse_spec("--pair is the second sentence of a pair; give the first as --text");
  if (text_ && !file_.empty()) refuse_spec("give --text or --file");
  if (file_.empty() && (column_ || pair_column_ || no_header_))
    refuse_spec("--column, --pair-column and --no-header are of the table that --file names");
  return text_ || !file_.empty();
}

ClassifySpec ClassPrediction::columns(ClassifySpec trained) const {
  if (no_header_) trained.header = false;
  if (column_) trained.sentence = column_of("--column", *column_);
  if (pair_column_) trained.pair = column_of("--pair-column", *pair_column_);
  const bool named = trained.sentence.number == 0 || (trained.pair && trained.pair->number == 0);
  if (!trained.header && named) refuse_spec("without a header columns go by number: say --column N");
  return trained;
}

void ClassPrediction::run(const PredictArguments& arguments, PredictModel& model) {
  const ClassHabits habits = class_habits(model.source);
  ClassTeller teller(arguments, model, habits);
  const auto most = static_cast<std::size_t>(arguments.batch);
  if (text_) {
    teller.tell({{teller.prepared({.origin = "--text", .text = *text_, .pair = pair_})}});
  } else if (!file_.empty()) {
    tell_rows(teller, habits.columns.value_or(ClassifySpec{}), most);
  } else {
    for_each_group(
        arguments.jsonl, most, [&](const JsonLine& line) { return teller.prepared(sentence_asked_by(line)); },
        [&](const std::vector<AskedSentence>& asked) { teller.tell(asked); });
  }
  if (teller.cut() > 0)
    fmt::print(stderr, "{} texts are cut to {} tokens, the longer sentence of a pair first\n", teller.cut(),
               habits.limit.tokens);
}

void ClassPrediction::tell_rows(ClassTeller& teller, const ClassifySpec& trained, std::size_t most) const {
  std::vector<AskedSentence> asked;
  bool is_empty = true;
  const auto tell_asked = [&] { teller.tell(std::exchange(asked, {})); };
  const auto add = [&](const TableRow& row) {
    is_empty = false;
    AskedSentence one{.origin = fmt::format("{}:{}", file_.string(), row.line),
                      .text = std::string(row.cells[0])};
    if (row.cells.size() > 1) one.pair = std::string(row.cells[1]);
    asked.push_back(teller.prepared(std::move(one)));
    if (asked.size() == most) tell_asked();
  };
  try {
    for_each_table_row(file_, table_form(columns(trained), false), add);
  } catch (const BadData&) {
    tell_asked();  // the good rows before a bad one
    throw;
  }
  tell_asked();
  if (is_empty) throw BadData(file_.string() + " has no sentence to predict");
}

void ClassPrediction::add_options(CLI::App& options) {
  options.add_option("--text", text_, "A sentence: which class it is of");
  options.add_option("--pair", pair_, "The second sentence, of a pair");
  options.add_option("--file", file_, "A table of sentences: TSV, .csv or .jsonl, also .gz and .zst");
  options.add_option("--column", column_,
                     "Its column of sentences, by name or number; else as the model was trained");
  options.add_option("--pair-column", pair_column_, "Its column of second sentences");
  options.add_flag("--no-header", no_header_, "Its columns go by number");
}

}  // namespace

std::unique_ptr<Prediction> make_class_prediction() { return std::make_unique<ClassPrediction>(); }

}  // namespace podium
