// podium-worker generate with models that were trained for it, as users run it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/base/file.h"
#include "tests/worker/worker_shell.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// A model that has learnt to say one thing.
class GenerateCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shell_ = std::make_unique<test::WorkerShell>();
    std::string corpus;
    for (int i = 0; i < 300; ++i) corpus += "one two three four five six<|endoftext|>";
    write_file_atomic(path("corpus.txt"), corpus);
    for (const std::string& family : {std::string("gpt"), std::string("llama")})
      write_file_atomic(path(family + ".yaml"), R"(version: 1
name: small
model: {family: )" + family + R"(, layers: 2, hidden: 64, heads: 4, max_positions: 24}
data: {train: corpus.txt, tokenizer: {bpe: {vocab: vocab.json, merges: merges.txt}}}
training:
  task: lm
  precision: fp32
  optimizer: {name: adamw, lr: 4.0e-3}
  schedule: {steps: 120, warmup: 10, decay: linear}
  batch: {global: 16, micro: 16}
  sequence_length: 24
checkpoint: {every: 60 steps}
resources: {devices: 1, per_node: 1, kind: cpu, walltime: 10m}
)");
    ASSERT_EQ(run("\"$0\" vocab --bpe --size 280 --out . corpus.txt"), 0) << output();
    for (const char* const family : {"gpt", "llama"})
      ASSERT_EQ(run(std::string("\"$0\" local ") + family + ".yaml --threads 2 --out run-" + family), 0)
          << output();
    ASSERT_EQ(run("\"$0\" export run-gpt/checkpoints/step-00000120 --out model --data ."), 0) << output();
    write_file_atomic(path("prompts.jsonl"),
                      "{\"prompt\": \"one two\"}\n\n{\"prompt\": \"three four\", \"id\": 3}\n");
  }
  static void TearDownTestSuite() { shell_.reset(); }

  static std::string path(const std::string& name) { return shell_->path(name); }
  static std::string output() { return shell_->output(); }
  static int run(const std::string& shell) { return shell_->run(shell); }
  static std::string generate(const std::string& arguments) {
    EXPECT_EQ(run("\"$0\" generate --threads 2 " + arguments + " > told.txt"), 0) << output();
    return read_file(path("told.txt"));
  }
  static std::vector<json> objects(const std::string& arguments) {
    std::istringstream lines(generate("--json " + arguments));
    std::vector<json> told;
    for (std::string line; std::getline(lines, line);) told.push_back(json::parse(line));
    return told;
  }
  static void expect_refusal(int exit, const std::string& arguments, const std::string& message) {
    EXPECT_EQ(run("\"$0\" generate " + arguments + " > told.txt"), exit) << arguments;
    EXPECT_THAT(output(), HasSubstr(message)) << arguments;
    EXPECT_EQ(read_file(path("told.txt")), "") << arguments;
  }

  static inline std::unique_ptr<test::WorkerShell> shell_;
};

TEST_F(GenerateCommand, WritesWhatTheModelHasLearnt) {
  for (const std::string model :
       {"model", "run-gpt/checkpoints", "run-gpt/checkpoints/step-00000120", "run-llama/checkpoints",
        "model --precision bf16", "model --precision fp16"}) {
    SCOPED_TRACE(model);
    EXPECT_EQ(generate(model + " --prompt 'one two' --temperature 0 --max-tokens 20 --stop six"),
              " three four five \n");
    EXPECT_THAT(output(), HasSubstr("tokens at"));
  }
}

TEST_F(GenerateCommand, TellsObjects) {
  const std::vector<json> told = objects("model --jsonl prompts.jsonl --temperature 0 --max-tokens 20");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0]["number"], 1);
  EXPECT_EQ(told[1]["number"], 2);
  EXPECT_EQ(told[1]["sample"], 1);
  EXPECT_FALSE(told[0].contains("id"));
  EXPECT_EQ(told[1]["id"], 3);
  EXPECT_EQ(told[0]["text"], " three four five six");
  EXPECT_EQ(told[0]["reason"], "end") << "documents end with the token that ends a text";
  EXPECT_EQ(told[1]["text"], " five six");
  EXPECT_GT(told[0]["decode_tokens_per_second"], 0);
  EXPECT_GT(told[0]["prefill_tokens_per_second"], 0);
  const json cut = objects("model --prompt 'one two' --temperature 0 --max-tokens 1")[0];
  EXPECT_EQ(cut["reason"], "length");
  EXPECT_EQ(cut["ids"].size(), 1U);
  EXPECT_TRUE(cut["decode_tokens_per_second"].is_null());
  const json stopped = objects("model --prompt 'one two' --temperature 0 --stop 'e f' --stop zzz")[0];
  EXPECT_EQ(stopped["reason"], "stop");
  EXPECT_EQ(stopped["text"], " thre");
}

TEST_F(GenerateCommand, TheSeedMakesTheTextWhateverIsBesideIt) {
  const auto texts = [&](const std::string& arguments, int seed = 9) {
    std::vector<std::string> found;
    for (const json& object :
         objects("model --temperature 3 --max-tokens 12 --seed " + std::to_string(seed) + " " + arguments))
      found.push_back(object["text"]);
    return found;
  };
  const std::vector<std::string> one = texts("--prompt 'three four' --count 3");
  ASSERT_EQ(one.size(), 3U);
  EXPECT_NE(one[0], one[1]);
  const std::vector<std::string> both = texts("--jsonl prompts.jsonl --count 3 --batch 4");
  ASSERT_EQ(both.size(), 6U);
  EXPECT_EQ(std::vector<std::string>(both.begin() + 3, both.end()), one);
  EXPECT_EQ(texts("--jsonl - --count 3 --batch 1 < prompts.jsonl"), both);
  EXPECT_NE(texts("--prompt 'three four' --count 3", 10), one);
}

TEST_F(GenerateCommand, TellsSeveralTextsInTheirOrder) {
  EXPECT_EQ(generate("model --jsonl prompts.jsonl --temperature 0 --count 2 --batch 3"),
            "== prompt 1, sample 1\n three four five six\n== prompt 1, sample 2\n three four five six\n"
            "== prompt 2, sample 1\n five six\n== prompt 2, sample 2\n five six\n");
}

TEST_F(GenerateCommand, AnEmptyPromptBeginsAText) {
  EXPECT_EQ(generate("model --prompt '' --temperature 0"), "one two three four five six\n");
}

// At a temperature at which bytes are drawn that are no characters.
TEST_F(GenerateCommand, PrintsCharactersAlone) {
  const std::string told = generate("model --prompt one --temperature 1e5 --count 20 --max-tokens 20");
  EXPECT_EQ(find_invalid_utf8(told), std::string::npos);
  EXPECT_THAT(told, HasSubstr("\xEF\xBF\xBD"));
}

TEST_F(GenerateCommand, LongPromptsAreRefusedOrCut) {
  const std::string prompt =
      " --prompt 'one two three four five six one two three four five six one two three four "
      "five six one two three four five six one two'";
  expect_refusal(
      65, "model --max-tokens 5" + prompt,
      "--prompt has 30 tokens, and with --max-tokens 5 the model's 24 positions take 20: shorten it, or "
      "keep its end alone with --truncate-prompt");
  EXPECT_EQ(objects("model --temperature 0 --truncate-prompt --max-tokens 5" + prompt)[0]["prompt_tokens"],
            20);
  EXPECT_EQ(objects("model --temperature 0 --truncate-prompt" + prompt)[0]["prompt_tokens"], 13);
  expect_refusal(65, "model" + prompt,
                 "--prompt has 30 tokens, and the model's 24 positions take 24: shorten");
  expect_refusal(64, "model --max-tokens 25 --prompt one",
                 "--max-tokens 25 is more than the model's 24 positions");
  EXPECT_EQ(objects("model --temperature 1e5 --max-tokens 24 --prompt one --count 5").size(), 5U)
      << "to the last position";
}

TEST_F(GenerateCommand, TokensThatTheFolderNamesEndAText) {
  ASSERT_EQ(run("rm -rf named && cp -r model named"), 0);
  const json text = objects("model --prompt 'one two' --temperature 0")[0];
  const std::string third = text["ids"][2].dump();
  write_file_atomic(path("named/generation_config.json"), R"({"eos_token_id": [299, )" + third + "]}");
  const json ended = objects("named --prompt 'one two' --temperature 0")[0];
  EXPECT_EQ(ended["reason"], "end");
  EXPECT_EQ(ended["ids"], json({text["ids"][0], text["ids"][1]}));
  write_file_atomic(path("named/generation_config.json"), R"({"eos_token_id": "six"})");
  expect_refusal(65, "named --prompt one",
                 "generation_config.json: eos_token_id is neither an id nor a list");
}

// Shapes that no machine holds, of a model that could be read in a moment.
TEST_F(GenerateCommand, RefusesBeforeTheWeightsAreRead) {
  ASSERT_EQ(run("rm -rf unread && cp -r model unread && echo > unread/model.safetensors"), 0);
  expect_refusal(65, "unread --prompt one", "model.safetensors");
  expect_refusal(64, "unread --prompt one --max-tokens 25", "--max-tokens 25 is more");
  expect_refusal(65, "unread --tokenizer wordpiece:merges.txt --prompt one", "merges.txt");
  expect_refusal(64, "unread --prompt one --precision int8", "text is generated in fp32");
  expect_refusal(64, "unread --prompt one --count 2000000000", "--count");
  std::string many;
  for (int i = 0; i < 65; ++i) many += "{\"prompt\": \"one\"}\n";
  write_file_atomic(path("many.jsonl"), many);
  expect_refusal(64, "unread --jsonl many.jsonl --count 65536",
                 "--count 65536 of 65 prompts are more than 4194304 texts");
  json config = json::parse(read_file(path("unread/config.json")));
  config["n_positions"] = config["n_ctx"] = 100'000'000;
  config["n_layer"] = 96;
  write_file_atomic(path("unread/config.json"), config.dump());
  expect_refusal(64, "unread --prompt one --count 16 --batch 16 --max-tokens 100000000",
                 "lower --batch or --max-tokens");
}

TEST_F(GenerateCommand, RefusesWhatCannotWorkAndSaysWhatWould) {
  write_file_atomic(path("bad.jsonl"), "{\"prompt\": \"one\"}\n{\"text\": \"one\"}\n");
  write_file_atomic(path("empty.jsonl"), "\n");
  write_file_atomic(path("broken.jsonl"), "{\"prompt\": \"one\n");
  write_file_atomic(path("keys.jsonl"), "{\"prompt\": \"one\", \"max_tokens\": 3}\n");
  expect_refusal(64, "model", "give --prompt or --jsonl");
  expect_refusal(65, "model --jsonl keys.jsonl", "keys.jsonl:1: \"max_tokens\" is no key here");
  expect_refusal(64, "model --jsonl ''", "--jsonl is empty");
  expect_refusal(65, "model --jsonl bad.jsonl", "bad.jsonl:2: the object has no text \"prompt\"");
  expect_refusal(65, "model --jsonl broken.jsonl", "broken.jsonl:1: ");
  expect_refusal(65, "model --jsonl empty.jsonl", "empty.jsonl has no prompt");
  expect_refusal(65, "model --jsonl absent.jsonl", "absent.jsonl");
  expect_refusal(65, "nothing --prompt one", "nothing is no model");
  expect_refusal(64, "model --prompt one --precision int8", "text is generated in fp32, bf16 or fp16");
  expect_refusal(64, "model --prompt one --precision int4", "\"int4\" is no precision");
  expect_refusal(64, "model --prompt one --stop ''", "is empty or no UTF-8");
  expect_refusal(64, "model --prompt one --top-p 1.5", "--top-p");
  expect_refusal(64, "model --prompt one --temperature nan", "--temperature");
  expect_refusal(65, "model --prompt \"$(printf '\\377')\"", "--prompt is no UTF-8");
  expect_refusal(65, "run-gpt/checkpoints --data elsewhere --prompt one", "say with --tokenizer where it is");
  expect_refusal(65, "model --tokenizer wordpiece:merges.txt --prompt one", "merges.txt");
  EXPECT_EQ(run("\"$0\" generate model --prompt one > /dev/full"), 1);
  EXPECT_THAT(output(), HasSubstr("cannot write standard output"));
}

TEST_F(GenerateCommand, RefusesBertAndBrokenWeights) {
  ASSERT_EQ(run("mkdir bert"), 0);
  write_file_atomic(path("bert/config.json"), R"({"model_type": "bert", "architectures": ["BertForMaskedLM"],
      "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 1, "intermediate_size": 8, "vocab_size": 6,
      "max_position_embeddings": 8, "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12})");
  expect_refusal(65, "bert --prompt one", "bert is a bert model, which fills masks and writes no text");
  ASSERT_EQ(run("cp -r model damaged && head -c 1000 model/model.safetensors > damaged/model.safetensors"),
            0);
  expect_refusal(65, "damaged --prompt one", "model.safetensors");
  ASSERT_EQ(run("rm -rf damaged && cp -r model damaged && rm damaged/vocab.json damaged/tokenizer*"), 0);
  expect_refusal(65, "damaged --prompt one", "has no tokenizer beside it");
  EXPECT_EQ(run("\"$0\" infer model --text corpus.txt"), 65);
  EXPECT_THAT(output(), HasSubstr("podium-worker generate"));
}

}  // namespace
}  // namespace podium
