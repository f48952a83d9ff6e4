// What becomes of a trained classifier: its labels travel with its weights into a Hugging Face folder and
// back, and predict tells what the job's evaluation found.
#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/worker/tasks/classify_jobs.h"
#include "worker/input/table_file.h"
#include "worker/input/text_files.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

std::string notes_of(const WorkerJob& job) {
  std::string notes;
  for (const WorkerEvent& event : job.events())
    if (const auto* note = std::get_if<NoteEvent>(&event.body)) notes += note->message + "\n";
  return notes;
}

class ClassifyExport : public testing::TestWithParam<bool> {
 protected:
  static JobSpec spec() { return GetParam() ? colour_counts(30) : short_colours(); }
  static JobSpec short_colours() {
    JobSpec spec = colours();
    spec.training.schedule.steps = 30;
    return spec;
  }
  // Trains, exports, and begins another job of one step that moves nothing with what was exported.
  void train_and_begin_again(const std::function<void(JobSpec&)>& change) {
    trained_.emplace(spec());
    write_counts(*trained_);
    ASSERT_THAT(trained_->run(layout_of_name("tensor2_sequence")), Each(0)) << trained_->errors();
    JobSpec again = spec();
    again.training.schedule = {.steps = 1};
    again.training.optimizer = {.lr = 1e-30, .weight_decay = 0};
    again.model.init = "model";
    again.evaluate.every = 1;
    change(again);
    again_.emplace(again);
    write_counts(*again_);
    ASSERT_EQ(run_worker(*again_, {"export", (trained_->checkpoints() / "step-00000030").string(), "--out",
                                   (again_->data() / "model").string(), "--data", trained_->data().string()}),
              0)
        << read_file(again_->data() / "log");
    ASSERT_THAT(again_->run(layout_of_name("tensor2_sequence")), Each(0)) << again_->errors();
  }

  std::optional<WorkerJob> trained_, again_;
};

TEST_P(ClassifyExport, AFolderHasTheHeadAndAJobBeginsWithItToTheBit) {
  train_and_begin_again([](JobSpec&) {});
  EXPECT_THAT(notes_of(*again_), Not(HasSubstr("fresh weights")));
  EXPECT_EQ(again_->metric("eval/loss").at(1), trained_->metric("eval/loss").at(30));
  const auto config = nlohmann::json::parse(read_file(again_->data() / "model/config.json"));
  EXPECT_EQ(config.at("architectures").at(0), "BertForSequenceClassification");
  const bool values = GetParam();
  const nlohmann::json names =
      values ? nlohmann::json{{"0", "LABEL_0"}} : nlohmann::json{{"0", "blue"}, {"1", "green"}, {"2", "red"}};
  EXPECT_EQ(config.at("id2label"), names);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ClassifyExport, testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "values" : "classes"; });

using ClassifyExportOfClasses = ClassifyExport;

TEST_P(ClassifyExportOfClasses, OtherLabelsGetAFreshHeadAndANoteSaysSo) {
  train_and_begin_again([](JobSpec& again) { again.training.classify.labels = {"red", "green", "blue"}; });
  EXPECT_THAT(notes_of(*again_), HasSubstr("predicts blue, green, red and that of this job red, green, blue: "
                                           "classifier.weight, classifier.bias begun with fresh weights"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ClassifyExportOfClasses, testing::Values(false));

class ClassifyPredict : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    JobSpec spec = GetParam() ? colour_counts(30) : colours();
    spec.training.schedule.steps = 30;
    job_.emplace(spec);
    write_counts(*job_);
    ASSERT_THAT(job_->run(1), Each(0)) << job_->errors();
    ASSERT_EQ(run_worker(*job_, {"export", checkpoint(), "--out", path("model"), "--data", path("")}), 0);
  }
  std::string path(const std::string& name) const { return (job_->data() / name).string(); }
  std::string checkpoint() const { return (job_->checkpoints() / "step-00000030").string(); }
  // Lines that the command prints.
  std::vector<std::string> predicted(const std::string& model, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"predict", model, "--data", path("")});
    EXPECT_EQ(run_worker(*job_, arguments), 0) << read_file(path("log"));
    std::vector<std::string> lines;
    for_each_line(job_->data() / "log", [&](std::string_view line) { lines.emplace_back(line); });
    return lines;
  }
  std::string table() const { return path(GetParam() ? "held-out.csv" : "held-out.tsv"); }
  std::vector<std::string> labels() const {
    std::vector<std::string> labels;
    const TableForm form{true, {{GetParam() ? "score" : "label"}}};
    for_each_table_row(table(), form, [&](const TableRow& row) { labels.emplace_back(row.cells[0]); });
    return labels;
  }

  std::optional<WorkerJob> job_;
};

TEST_P(ClassifyPredict, TellsWhatTheEvaluationFound) {
  const std::vector<std::string> lines = predicted(checkpoint(), {"--file", table(), "--json"}),
                                 truth = labels();
  ASSERT_EQ(lines.size(), truth.size());
  double loss = 0, correct = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto told = nlohmann::json::parse(lines[i]);
    EXPECT_EQ(told.contains("pair"), GetParam());
    if (GetParam()) {
      loss += std::pow(told.at("value").get<double>() - std::stod(truth[i]), 2);
      continue;
    }
    const auto& shares = told.at("probabilities");
    loss -= std::log(shares.at(truth[i]).get<double>());
    correct += told.at("label") == truth[i];
    EXPECT_EQ(told.at("probability"), shares.at(told.at("label").get<std::string>()));
    EXPECT_NEAR(
        shares.at("red").get<double>() + shares.at("green").get<double>() + shares.at("blue").get<double>(),
        1, 1e-9);
  }
  const auto count = static_cast<double>(lines.size());
  const double expected = job_->metric("eval/loss").at(30);
  EXPECT_NEAR(loss / count, expected, 1e-4 * expected);
  if (!GetParam()) {
    EXPECT_DOUBLE_EQ(correct / count, job_->metric("eval/accuracy").at(30));
  }
  std::vector<std::string> of_folder{"--file", table(), "--json"};
  if (GetParam()) of_folder.insert(of_folder.end(), {"--column", "first", "--pair-column", "4"});
  EXPECT_EQ(predicted(path("model"), of_folder), lines) << "the exported folder predicts the same";
}

TEST_P(ClassifyPredict, TakesTextsOfTheCommandLineAndLinesOfJson) {
  std::vector<std::string> arguments{"--text", "the road is red"};
  std::string object = R"({"id": 7, "text": "the road is red")";
  if (GetParam()) {
    arguments.insert(arguments.end(), {"--pair", "a ship"});
    object += R"(, "pair": "a ship")";
  }
  constexpr std::size_t kLines = 9;  // which are computed as ten
  std::string lines;
  for (std::size_t i = 0; i < kLines; ++i) lines += object + "}\n\n";
  write_file_atomic(path("lines.jsonl"), lines);
  const std::vector<std::string> one = predicted(checkpoint(), arguments);
  ASSERT_EQ(one.size(), 1U);
  const std::string line = "7\t" + one[0];
  EXPECT_EQ(predicted(path("model"), {"--jsonl", path("lines.jsonl")}),
            std::vector<std::string>(kLines, line));
  arguments.push_back("--json");
  const auto told = nlohmann::json::parse(predicted(checkpoint(), arguments).at(0));
  const std::string expected = GetParam() ? fmt::format("{:.6g}", told.at("value").get<float>())
                                          : fmt::format("{}\t{:.4f}", told.at("label").get<std::string>(),
                                                        told.at("probability").get<double>());
  EXPECT_EQ(one[0], expected);
}

TEST_P(ClassifyPredict, RefusesWhatItCannotUse) {
  const auto refusal = [&](std::vector<std::string> arguments, WorkerExit code) {
    arguments.insert(arguments.begin(), {"predict", checkpoint(), "--data", path("")});
    EXPECT_EQ(run_worker(*job_, arguments), static_cast<int>(code));
    return read_file(path("log"));
  };
  EXPECT_THAT(refusal({"--pair", "a"}, WorkerExit::bad_spec), HasSubstr("--text"));
  EXPECT_THAT(refusal({"--text", "a", "--file", table()}, WorkerExit::bad_spec),
              HasSubstr("--text or --file"));
  EXPECT_THAT(refusal({"--text", "a", "--column", "b"}, WorkerExit::bad_spec), HasSubstr("--column"));
  EXPECT_THAT(refusal({"--text", " "}, WorkerExit::bad_spec), HasSubstr("--text is empty"));
  EXPECT_THAT(refusal({"--question", "a", "--context", "b"}, WorkerExit::bad_data),
              HasSubstr("no head that answers"));
  EXPECT_THAT(refusal({"--file", table(), "--column", "none"}, WorkerExit::bad_data),
              HasSubstr(":1: names no column"));
  write_file_atomic(path("empty.tsv"), GetParam() ? "first\tsecond\na\t \n" : "sentence\tx\n \tx\n");
  EXPECT_THAT(refusal({"--file", path("empty.tsv")}, WorkerExit::bad_data), HasSubstr("empty.tsv:2: "));
  write_file_atomic(path("controls.jsonl"),
                    GetParam() ? R"({"text": "a", "pair": "\u0001\u0002"})" : R"({"text": "\u0001\u0002"})");
  EXPECT_THAT(refusal({"--jsonl", path("controls.jsonl")}, WorkerExit::bad_data),
              AllOf(HasSubstr("controls.jsonl:1: "), HasSubstr("has no token")));
  write_file_atomic(path("header.tsv"), GetParam() ? "first\tsecond\n" : "sentence\tx\n");
  EXPECT_THAT(refusal({"--file", path("header.tsv")}, WorkerExit::bad_data),
              HasSubstr("header.tsv has no sentence to predict"));
  write_file_atomic(path("keys.jsonl"), R"({"text": "a", "pair": "b", "pairs": "c"})");
  EXPECT_THAT(refusal({"--jsonl", path("keys.jsonl")}, WorkerExit::bad_data),
              HasSubstr("keys.jsonl:1: \"pairs\" is no key here"));
  write_file_atomic(path("lines.jsonl"), "{\"text\": 5}\n");
  EXPECT_THAT(refusal({"--jsonl", path("lines.jsonl")}, WorkerExit::bad_data), HasSubstr("lines.jsonl:1"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ClassifyPredict, testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "values" : "classes"; });

}  // namespace
}  // namespace podium
