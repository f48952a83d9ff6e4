// The commands of inference, from training to 8 bits, with the program that users run.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/base/file.h"
#include "tests/worker/worker_shell.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::array kWords{"river", "stone", "light", "water", "house", "field", "bread", "road"};

// Documents of one word each, which a small model learns within seconds.
std::string corpus() {
  std::string text;
  for (int document = 0; document < 200; ++document) {
    const std::string word = kWords[static_cast<std::size_t>(document * 5 % 8)];
    for (int sentence = 0; sentence < 6; ++sentence)
      text += word + " " + word + " " + word + " " + word + " .\n";
    text += "\n";
  }
  return text;
}

// A model that was trained once for all tests.
class InferenceCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shell_ = std::make_unique<test::WorkerShell>();
    std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n.\n";
    for (const char* word : kWords) vocabulary += std::string(word) + "\n";
    write_file_atomic(path("vocab.txt"), vocabulary);
    write_file_atomic(path("corpus.txt"), corpus());
    write_file_atomic(path("lines.txt"),
                      "river river [MASK] river .\nbread [MASK] bread .\tbread bread .\nroad .\n");
    write_file_atomic(path("job.yaml"), R"(version: 1
name: small
model: {family: bert, layers: 2, hidden: 64, heads: 2, intermediate: 256, max_positions: 32}
data: {train: corpus.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  task: pretrain
  precision: fp32
  optimizer: {name: adamw, lr: 2.0e-3}
  schedule: {steps: 150, warmup: 10, decay: linear}
  batch: {global: 32, micro: 32}
  sequence_length: 32
resources: {devices: 1, per_node: 1, kind: cpu, walltime: 10m}
)");
    ASSERT_EQ(run("\"$0\" local job.yaml --threads 2"), 0) << output();
    ASSERT_EQ(run("\"$0\" export podium-run/checkpoints/step-00000150 --out model --data ."), 0) << output();
    ASSERT_EQ(run("\"$0\" calibrate model --text corpus.txt --length 32 --out model-int8 --json > int8.json"),
              0)
        << output();
    ASSERT_EQ(run("\"$0\" calibrate podium-run/checkpoints/step-00000150 --format fp8 --text corpus.txt "
                  "--length 32 --out model-fp8 --json > fp8.json"),
              0)
        << output();
  }
  static void TearDownTestSuite() { shell_.reset(); }

  static std::string path(const std::string& name) { return shell_->path(name); }
  static std::string output() { return shell_->output(); }
  static int run(const std::string& shell) { return shell_->run(shell); }
  static std::vector<json> infer(const std::string& arguments) {
    EXPECT_EQ(run("\"$0\" infer --threads 2 --json " + arguments + " > told.jsonl"), 0) << output();
    std::istringstream lines(read_file(path("told.jsonl")));
    std::vector<json> objects;
    for (std::string line; std::getline(lines, line);) objects.push_back(json::parse(line));
    return objects;
  }
  static json told(const std::string& name) { return json::parse(read_file(path(name))); }

  static inline std::unique_ptr<test::WorkerShell> shell_;
};

TEST_F(InferenceCommand, FillsMasksInEveryPrecision) {
  for (const std::string arguments :
       {"model", "podium-run/checkpoints/step-00000150", "model --precision bf16", "model --precision fp16",
        "model-int8", "model-fp8"}) {
    SCOPED_TRACE(arguments);
    const std::vector<json> lines = infer(arguments + " --text lines.txt --top 3");
    ASSERT_EQ(lines.size(), 3U);
    ASSERT_EQ(lines[0]["masks"].size(), 1U);
    EXPECT_EQ(lines[0]["masks"][0]["position"], 3);
    EXPECT_EQ(lines[0]["masks"][0]["candidates"].size(), 3U);
    EXPECT_EQ(lines[0]["masks"][0]["candidates"][0]["token"], "river");
    EXPECT_GT(lines[0]["masks"][0]["candidates"][0]["probability"], 0.5);
    EXPECT_EQ(lines[1]["masks"][0]["candidates"][0]["token"], "bread");
    EXPECT_TRUE(lines[1].contains("follows"));
    EXPECT_FALSE(lines[0].contains("follows"));
    EXPECT_TRUE(lines[2]["masks"].empty());
  }
}

TEST_F(InferenceCommand, TheBatchDoesNotMatter) {
  const std::vector<json> together = infer("model --text lines.txt"),
                          alone = infer("model --text - --batch 1 < lines.txt");
  ASSERT_EQ(together.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i)
    for (std::size_t m = 0; m < alone[i]["masks"].size(); ++m)
      EXPECT_NEAR(together[i]["masks"][m]["candidates"][0]["probability"].get<double>(),
                  alone[i]["masks"][m]["candidates"][0]["probability"].get<double>(), 1e-4);
}

TEST_F(InferenceCommand, CalibrationTellsWhatItCosts) {
  for (const char* name : {"int8.json", "fp8.json"}) {
    const json cost = told(name);
    EXPECT_GT(cost["compared_masks"], 100);
    EXPECT_GT(cost["accuracy_before"], 0.8) << "the model has learnt its text";
    EXPECT_GE(cost["same_choice"], 0.97) << name;
    EXPECT_LT(cost["embedding_error"], 0.05) << name;
  }
  EXPECT_EQ(told("model-int8/quantization.json")["format"], "int8");
  EXPECT_EQ(told("model-fp8/quantization.json")["format"], "fp8");
}

TEST_F(InferenceCommand, SparseModelsSayWhatTheyNeed) {
  ASSERT_EQ(run("\"$0\" calibrate model --sparse --text corpus.txt --length 32 --out model-sparse"), 0)
      << output();
  EXPECT_THAT(output(), HasSubstr("pruned weights need training on"));
  EXPECT_EQ(told("model-sparse/quantization.json")["sparse"], true);
  EXPECT_EQ(infer("model-sparse --text lines.txt").size(), 3U);
}

// Trained on from the calibrated model's weights and ranges, it is quantised without text and without loss.
TEST_F(InferenceCommand, ATrainingForEightBitsNeedsNoTextAfterwards) {
  write_file_atomic(path("compressed.yaml"), R"(version: 1
name: compressed
model: {family: bert, layers: 2, hidden: 64, heads: 2, intermediate: 256, max_positions: 32, init: podium-run/checkpoints}
data: {train: corpus.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  task: pretrain
  quantise: {format: int8, ranges: model-int8}
  sparse: 2:4
  optimizer: {name: adamw, lr: 1.0e-3}
  schedule: {steps: 60, warmup: 5, decay: linear}
  batch: {global: 32, micro: 32}
  sequence_length: 32
resources: {devices: 1, per_node: 1, kind: cpu, walltime: 10m}
)");
  ASSERT_EQ(run("\"$0\" local compressed.yaml --threads 2 --out compressed"), 0) << output();
  ASSERT_EQ(run("\"$0\" calibrate compressed/checkpoints --data . --sparse --out trained-int8"), 0)
      << output();
  EXPECT_THAT(output(), HasSubstr("ranges from the training"));
  EXPECT_THAT(output(), testing::Not(HasSubstr("training on")));
  EXPECT_EQ(told("trained-int8/quantization.json")["calibration"], (json{{"ranges", "training"}}));
  EXPECT_EQ(told("trained-int8/quantization.json")["sparse"], true);
  const std::vector<json> lines = infer("trained-int8 --text lines.txt --top 1");
  EXPECT_EQ(lines.at(0)["masks"][0]["candidates"][0]["token"], "river");
  EXPECT_EQ(lines.at(1)["masks"][0]["candidates"][0]["token"], "bread");
  ASSERT_EQ(run("\"$0\" calibrate compressed/checkpoints --data . --text corpus.txt --length 32 --json "
                "--out measured > measured.json"),
            0)
      << output();
  EXPECT_EQ(told("measured.json")["ranges"], "training");
  EXPECT_GE(told("measured.json")["accuracy_after"], 0.9);
  EXPECT_EQ(run("\"$0\" calibrate compressed/checkpoints --data . --format fp8 --out other"), 65);
  EXPECT_THAT(output(), HasSubstr("was trained for int8"));
  EXPECT_EQ(run("\"$0\" calibrate model --out other"), 65);
  EXPECT_THAT(output(), HasSubstr("give it text with --text"));
  EXPECT_FALSE(std::filesystem::exists(path("other")));
}

TEST_F(InferenceCommand, WritesEmbeddings) {
  ASSERT_EQ(run("\"$0\" infer model --text lines.txt --embeddings e.safetensors"), 0) << output();
  const std::string file = read_file(path("e.safetensors"));
  const json header = json::parse(file.substr(8, static_cast<unsigned char>(file[0])));
  for (const char* name : {"mean", "pooled"}) {
    EXPECT_EQ(header[name]["dtype"], "F32");
    EXPECT_EQ(header[name]["shape"], (json{3, 64}));
  }
}

TEST_F(InferenceCommand, WritesALineWithANulWhole) {
  write_file_atomic(path("nul.txt"), std::string("river\0bread .\nroad .\n", 21));
  ASSERT_EQ(run("\"$0\" infer model --text nul.txt > told.txt"), 0) << output();
  EXPECT_THAT(read_file(path("told.txt")), HasSubstr("river bread .\n")) << "no terminal is told of it";
}

TEST_F(InferenceCommand, ALostOutputIsAFailure) {
  for (const char* const command :
       {"infer model --text lines.txt", "infer model --text corpus.txt --json --batch 64", "infer --help",
        "inspect podium-run/checkpoints/step-00000150", "evaluate model --masked corpus.txt --length 32",
        "latency model --length 32 --repeats 1 --warmup 0",
        "export podium-run/checkpoints/step-00000150 --out lost",
        "prepare --tokenizer model --json --out prepared corpus.txt"}) {
    EXPECT_EQ(run(std::string("\"$0\" ") + command + " > /dev/full"), 1) << command;
    EXPECT_THAT(output(), HasSubstr("cannot write standard output: No space left on device")) << command;
  }
  EXPECT_EQ(run("\"$0\" infer nothing --text lines.txt > /dev/full"), 65) << "what failed first";
}

TEST_F(InferenceCommand, EmbeddingsThatCannotBeWrittenLeaveNothing) {
  EXPECT_EQ(run("\"$0\" infer model --text lines.txt --embeddings nowhere/e.safetensors"), 73);
  EXPECT_THAT(output(), HasSubstr("nowhere/e.safetensors"));
  EXPECT_EQ(run("trap '' XFSZ; ulimit -f 1; "
                "\"$0\" infer model --text lines.txt --embeddings limited.safetensors > /dev/null"),
            73);
  EXPECT_FALSE(std::filesystem::exists(path("limited.safetensors")));
  EXPECT_EQ(run("\"$0\" infer model --text lines.txt --embeddings /dev/full"), 73);
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

// A folder in the newer form, with a token that was added and accents that are kept: they were read by
// vocab.txt alone, or not at all.
TEST_F(InferenceCommand, ReadsTextAsTheFoldersTokenizerDoes) {
  json vocabulary;
  std::istringstream lines(read_file(path("vocab.txt")));
  for (std::string token; std::getline(lines, token);) vocabulary[token] = vocabulary.size();
  const auto added = [](int id, const char* content) {
    return json{{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", true}};
  };
  const json tokenizer{{"version", "1.0"},
                       {"added_tokens", {added(4, "[MASK]"), added(1, "[UNK]"), added(14, "new word")}},
                       {"normalizer",
                        {{"type", "BertNormalizer"},
                         {"clean_text", true},
                         {"handle_chinese_chars", true},
                         {"strip_accents", false},
                         {"lowercase", true}}},
                       {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                       {"model",
                        {{"type", "WordPiece"},
                         {"unk_token", "[UNK]"},
                         {"continuing_subword_prefix", "##"},
                         {"max_input_chars_per_word", 100},
                         {"vocab", vocabulary}}}};
  ASSERT_EQ(run("cp -r model model-json && rm model-json/vocab.txt model-json/tokenizer_config.json"), 0);
  write_file_atomic(path("model-json/tokenizer.json"), tokenizer.dump());
  write_file_atomic(path("new.txt"), "rivér [MASK] rivér .\n[UNK] [MASK] [UNK] .\nriver new word .\n");
  ASSERT_EQ(run("\"$0\" calibrate model-json --text corpus.txt --length 32 --out model-json-int8"), 0)
      << output();
  for (const char* model : {"model-json", "model-json-int8"}) {
    SCOPED_TRACE(model);
    const std::vector<json> told = infer(std::string(model) + " --text new.txt --batch 1");
    ASSERT_EQ(told.size(), 3U);
    EXPECT_EQ(told[0]["masks"], told[1]["masks"]) << "the accent makes it an unknown word";
    EXPECT_EQ(told[2]["tokens"], 5) << "[CLS] river, the added token . [SEP]";
    EXPECT_EQ(infer(std::string(model) + " --text lines.txt")[0]["masks"][0]["candidates"][0]["token"],
              "river");
  }
  EXPECT_EQ(infer("model --text new.txt")[2]["tokens"], 6);
}

TEST_F(InferenceCommand, ADamagedCheckpointIsPassedOverWithAWarning) {
  ASSERT_EQ(run("mkdir two && cp -r podium-run/checkpoints/step-00000150 two/ && "
                "cp -r podium-run/checkpoints/step-00000150 two/step-00000200 && "
                "truncate -s -10 two/step-00000200/rank-00000.safetensors"),
            0);
  ASSERT_EQ(run("\"$0\" infer two --text lines.txt"), 0) << output();
  EXPECT_THAT(output(),
              testing::ContainsRegex("two/step-00000200 is not usable: .*; step-00000150 is taken"));
}

TEST_F(InferenceCommand, AModelThatIsNotFinishedLeavesNothingAndAFolderInUseIsLeftAlone) {
  ASSERT_EQ(run("mkdir used && touch used/tokenizer.json"), 0);
  const std::string from = "podium-run/checkpoints/step-00000150";
  const std::vector<std::string> commands{"export " + from,
                                          "calibrate " + from + " --text corpus.txt --length 32"};
  for (const std::string& command : commands) {
    SCOPED_TRACE(command);
    EXPECT_EQ(run("\"$0\" " + command + " --data . --out used"), 65);
    EXPECT_THAT(output(), HasSubstr("used exists already"));
    EXPECT_EQ(run("\"$0\" " + command + " --data . --out /dev/null/model"), 73);
    EXPECT_THAT(output(), HasSubstr("/dev/null/model: Not a directory"));
    EXPECT_EQ(run("ulimit -f 20; trap '' XFSZ; \"$0\" " + command + " --data . --out unfinished"), 73)
        << output();
    EXPECT_EQ(run("ls -A | grep unfinished"), 1) << output();
  }
}

TEST_F(InferenceCommand, NumbersOutOfBoundsAreRefusedInWords) {
  EXPECT_EQ(run("\"$0\" infer model --text lines.txt --top 0"), 64);
  EXPECT_THAT(output(), HasSubstr("--top: is 0, and must be at least 1"));
  EXPECT_EQ(run("\"$0\" infer model --text lines.txt --threads 100000"), 64);
  EXPECT_THAT(output(), HasSubstr("not in range 0 to 1024"));
  EXPECT_EQ(run("\"$0\" local job.yaml --threads 100000"), 64);
  EXPECT_EQ(run("\"$0\" export podium-run/checkpoints/step-00000150 --out other --shard-size -1"), 64);
  for (const char* seed : {"-1", "18446744073709551616", "1.5", ""})
    EXPECT_EQ(run(std::string("\"$0\" generate model --prompt a --seed '") + seed + "'"), 64) << seed;
}

TEST_F(InferenceCommand, LatencyOfAPresetAndOfAModel) {
  ASSERT_EQ(
      run("\"$0\" latency bert-tiny --precision int8 --sparse --repeats 3 --warmup 1 --json > told.json"), 0)
      << output();
  const json preset = told("told.json");
  EXPECT_EQ(preset["precision"], "int8");
  EXPECT_EQ(preset["sparse"], true);
  EXPECT_EQ(preset["warmup"], 1);
  EXPECT_GT(preset["median_ms"], 0);
  EXPECT_GE(preset["p99_ms"], preset["p90_ms"]);
  ASSERT_EQ(run("\"$0\" latency model-int8 --check --json --shape 2x32 --repeats 1 --warmup 0 > told.json"),
            0)
      << output();
  std::istringstream lines(read_file(path("told.json")));
  std::string line;
  std::getline(lines, line);
  EXPECT_GT(json::parse(line)["median_ms"], 0);
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line)["passed"], true);
  EXPECT_LT(json::parse(line)["error"], 1e-5) << "the first of two sequences, on the CPU too";
  ASSERT_EQ(run("\"$0\" latency model-int8 --batch 2 --length 32 --repeats 3 --warmup 1"), 0) << output();
  EXPECT_THAT(output(), testing::ContainsRegex(" 2 x 32 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+\n"));
}

TEST_F(InferenceCommand, LatencyOfAGridOfShapes) {
  ASSERT_EQ(run("\"$0\" latency bert-tiny --shape 1,2x8,128 --repeats 1 --warmup 0 --json > told.json"), 0)
      << output();
  std::vector<std::pair<int, int>> shapes;
  std::istringstream lines(read_file(path("told.json")));
  for (std::string line; std::getline(lines, line);)
    shapes.emplace_back(json::parse(line)["batch"], json::parse(line)["length"]);
  EXPECT_THAT(shapes,
              testing::ElementsAre(std::pair(1, 8), std::pair(1, 128), std::pair(2, 8), std::pair(2, 128)));
  for (const char* shape : {"1x", "x8", "1,x8", "1,,2x8", "1x8,", "0x8", "1x8x8", "a", "1x8 "})
    EXPECT_EQ(run(std::string("\"$0\" latency bert-tiny --shape '") + shape + "'"), 64) << shape;
}

TEST_F(InferenceCommand, WhatOthersPublishedStandsBesideTheSameModelAndShape) {
  ASSERT_EQ(run("\"$0\" latency bert-base --shape 1x8,128 --repeats 1 --warmup 0"), 0) << output();
  EXPECT_THAT(output(), HasSubstr("T4      2.20 ms  fp16"));
  EXPECT_THAT(output(), testing::Not(HasSubstr("A100"))) << "that is of BERT-Large";
  ASSERT_EQ(run("\"$0\" latency bert-base --json --repeats 1 --warmup 0 > told.json"), 0) << output();
  const json published = told("told.json").at("published");
  EXPECT_EQ(published.size(), 3);
  EXPECT_EQ(published[0]["value"], 2.2);
  ASSERT_EQ(run("\"$0\" latency bert-tiny --repeats 1 --warmup 0"), 0) << output();
  EXPECT_THAT(output(), testing::Not(HasSubstr("published")));
}

TEST_F(InferenceCommand, AConfigOfAnotherShapeIsRefusedBeforeItsMemoryIsTaken) {
  const json right = json::parse(read_file(path("model/config.json")));
  ASSERT_EQ(run("cp -r model damaged"), 0);
  for (const auto& [key, value] : {std::pair{"hidden_size", 1 << 29}, std::pair{"vocab_size", 1 << 30},
                                   std::pair{"intermediate_size", 1 << 30}}) {
    json config = right;
    config[key] = value;
    write_file_atomic(path("damaged/config.json"), config.dump());
    EXPECT_EQ(run("\"$0\" infer damaged --text lines.txt"), 65) << key;
    EXPECT_THAT(output(),
                AllOf(HasSubstr("damaged/model.safetensors: the tensor "),
                      HasSubstr("and what config.json describes of "), HasSubstr(std::to_string(value))));
  }
}

TEST_F(InferenceCommand, RefusesWhatCannotWorkAndSaysWhatWould) {
  EXPECT_EQ(run("\"$0\" infer nothing --text lines.txt"), 65);
  EXPECT_THAT(output(), HasSubstr("nothing is no model"));
  EXPECT_EQ(run("\"$0\" infer model --precision int8 --text lines.txt"), 64);
  EXPECT_THAT(output(), HasSubstr("podium-worker calibrate model"));
  EXPECT_EQ(run("\"$0\" infer model --precision int4 --text lines.txt"), 64);
  EXPECT_THAT(output(), HasSubstr("fp32, bf16, fp16, int8 or fp8"));
  EXPECT_EQ(run("\"$0\" infer model-int8 --precision fp16 --text lines.txt"), 64);
  EXPECT_THAT(output(), HasSubstr("is quantised to int8"));
  EXPECT_EQ(run("\"$0\" calibrate model-int8 --text corpus.txt --out again"), 65);
  EXPECT_THAT(output(), HasSubstr("quantised already"));
  EXPECT_EQ(run("\"$0\" calibrate model --text corpus.txt --length 32 --out model-int8"), 65);
  EXPECT_THAT(output(), HasSubstr("exists already"));
  EXPECT_EQ(run("\"$0\" calibrate model --text corpus.txt --length 64 --out other"), 65);
  EXPECT_THAT(output(), HasSubstr("--length 64"));
  write_file_atomic(path("long.txt"), "river\n" + std::string(500, '.') + "\n");
  EXPECT_EQ(run("\"$0\" infer model --text long.txt"), 65);
  EXPECT_THAT(output(), HasSubstr("long.txt:2 has 502 tokens"));
  EXPECT_EQ(run("\"$0\" latency bert-tiny --shape 1+128"), 64);
  EXPECT_THAT(output(), HasSubstr("such as 1x128"));
  EXPECT_EQ(run("\"$0\" latency bert-tiny --length 600"), 64);
  EXPECT_THAT(output(), HasSubstr("512 positions"));
  EXPECT_EQ(run("\"$0\" latency bert-tiny --batch 2000000000 --length 512"), 64);
  EXPECT_THAT(output(), HasSubstr("use --batch 8192 or less"));
  EXPECT_EQ(run("\"$0\" latency bert-larg"), 64);
  EXPECT_THAT(output(), HasSubstr("the presets are bert-tiny, bert-mini, "));
  EXPECT_EQ(run("\"$0\" evaluate model-int8 --masked corpus.txt --length 32"), 65);
  EXPECT_THAT(output(), HasSubstr("model-int8 is quantised, for inference alone"));
  EXPECT_EQ(run("\"$0\" inspect podium-run/checkpoints"), 65);
  EXPECT_THAT(output(), HasSubstr("such as podium-run/checkpoints/step-00000150"));
  EXPECT_EQ(run("\"$0\" inspect model"), 65);
  EXPECT_THAT(output(), HasSubstr("model is no checkpoint, for it has no manifest.json"));
}

}  // namespace
}  // namespace podium
