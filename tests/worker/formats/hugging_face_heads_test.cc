// What the families and heads of Hugging Face's form differ in: masked tokens alone, question answering,
// published sizes, ties, what Llama's config may say.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/formats/small_models.h"
#include "worker/formats/hugging_face.h"
#include "worker/formats/hugging_face_config.h"
#include "worker/formats/hugging_face_names.h"
#include "worker/formats/safetensors.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"
#include "worker/nn/model.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using test::declare;
using test::expected_tensors;
using test::expected_value;
using test::small;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class HuggingFaceHeads : public testing::Test {
 protected:
  void write(const ModelHead& head) {
    const std::vector<FullTensor> tensors = expected_tensors(spec_, head.task);
    write_hugging_face(folder_.path() / "model", spec_, source_of(tensors), 1 << 30, head);
    const SafetensorsFile file(folder_.path() / "model" / "model.safetensors");
    for (const auto& [name, tensor] : file.tensors())
      if (!name.starts_with("bert.embeddings.") && !name.starts_with("bert.encoder."))
        of_head_.push_back(name);
  }
  std::string architecture() const {
    const auto config = nlohmann::json::parse(read_file(folder_.path() / "model" / "config.json"));
    return config.at("architectures").at(0);
  }
  // Returns what was absent.
  std::vector<std::string> load(ParameterStore& store, TrainingTask task) const {
    declare(store, spec_, 0, 1, 0, task);
    return load_hugging_face(folder_.path() / "model", spec_, store, task);
  }

  void expect_values(const ParameterStore& store, TrainingTask task,
                     const std::vector<std::string>& absent) const {
    for (const FullTensor& tensor : expected_tensors(spec_, task)) {
      if (std::ranges::find(absent, tensor.name) != absent.end()) continue;
      EXPECT_TRUE(std::ranges::equal(store.weights(*store.find(tensor.name)), tensor.values)) << tensor.name;
    }
  }

  const ModelSpec spec_ = small(ModelFamily::bert);
  const TempFolder folder_;
  std::vector<std::string> of_head_;  // names of the tensors written
};

TEST_F(HuggingFaceHeads, OfQuestionsAreWrittenAndReadBackToTheBit) {
  write(TrainingTask::squad);
  EXPECT_EQ(read_hugging_face_head(folder_.path() / "model").task, TrainingTask::squad);
  EXPECT_EQ(architecture(), "BertForQuestionAnswering");
  EXPECT_THAT(of_head_, UnorderedElementsAre("qa_outputs.weight", "qa_outputs.bias"));
  ParameterStore store;
  EXPECT_THAT(load(store, TrainingTask::squad), IsEmpty());
  expect_values(store, TrainingTask::squad, {});
}

TEST_F(HuggingFaceHeads, OfMaskedTokensAloneAreWrittenAndReadBackToTheBit) {
  write(ModelHead::of_tokens_alone());
  EXPECT_EQ(read_hugging_face_head(folder_.path() / "model").task, TrainingTask::pretrain);
  EXPECT_EQ(architecture(), "BertForMaskedLM");
  EXPECT_THAT(of_head_, UnorderedElementsAre("cls.predictions.bias", "cls.predictions.transform.dense.weight",
                                             "cls.predictions.transform.dense.bias",
                                             "cls.predictions.transform.LayerNorm.weight",
                                             "cls.predictions.transform.LayerNorm.bias"));
  ParameterStore store;
  const std::vector<std::string> absent = load(store, TrainingTask::pretrain);
  EXPECT_THAT(absent, UnorderedElementsAre("bert.pooler.dense.weight", "bert.pooler.dense.bias",
                                           "cls.seq_relationship.weight", "cls.seq_relationship.bias"));
  expect_values(store, TrainingTask::pretrain, absent);
}

TEST_F(HuggingFaceHeads, OfQuestionsBeginWithAPretrainedModelWithoutThem) {
  write(TrainingTask::pretrain);
  EXPECT_EQ(read_hugging_face_head(folder_.path() / "model").task, TrainingTask::pretrain);
  ParameterStore store;
  EXPECT_THAT(load(store, TrainingTask::squad), testing::ElementsAre("qa_outputs.weight", "qa_outputs.bias"));
}

TEST_F(HuggingFaceHeads, OfQuestionsLeaveTheirEncoderToPretraining) {
  write(TrainingTask::squad);
  ParameterStore store;
  EXPECT_THAT(load(store, TrainingTask::pretrain), Contains("cls.seq_relationship.weight"));
}

class HuggingFaceClasses : public testing::Test {
 protected:
  static ModelHead classes(std::vector<std::string> labels) {
    return {TrainingTask::classify, std::move(labels)};
  }
  fs::path model() const { return folder_.path() / "model"; }
  void write(const ModelHead& head) const {
    const std::vector<FullTensor> tensors = expected_tensors(spec_, head);
    write_hugging_face(model(), spec_, source_of(tensors), 1 << 30, head);
  }
  std::vector<std::string> absent(const ModelHead& head) const {
    ParameterStore store;
    declare(store, spec_, 0, 1, 0, head);
    return load_hugging_face(model(), spec_, store, head);
  }
  void edit_config(const std::function<void(nlohmann::json&)>& edit) const {
    auto config = nlohmann::json::parse(read_file(model() / "config.json"));
    edit(config);
    write_file_atomic(model() / "config.json", config.dump());
  }
  std::string refusal() const {
    try {
      read_hugging_face_head(model());
    } catch (const BadData& error) {
      return error.what();
    }
    return "";
  }

  const ModelSpec spec_ = small(ModelFamily::bert);
  const TempFolder folder_;
};

// A task knows neither of them before it reads a model.
TEST_F(HuggingFaceClasses, OfTheSameLabelsAgreeWhateverIsKnownOfPairsAndDropout) {
  ModelHead theirs(TrainingTask::classify, {"no", "yes"});
  const ModelHead ours = theirs;
  theirs.pairs = true;
  theirs.dropout = 0.1;
  EXPECT_TRUE(labels_agree(theirs, ours));
  EXPECT_FALSE(labels_agree(theirs, ModelHead(TrainingTask::classify, {"yes", "no"})));
}

TEST_F(HuggingFaceClasses, TellWhetherTheyAreOfPairsAndTheirDropout) {
  for (const bool pairs : {true, false}) {
    ModelHead head = classes({"no", "yes"});
    head.pairs = pairs;
    head.dropout = 0.25;
    fs::remove_all(model());
    write(head);
    const auto config = nlohmann::json::parse(read_file(model() / "config.json"));
    EXPECT_EQ(config.at("podium_pair"), pairs);
    EXPECT_EQ(config.at("classifier_dropout"), 0.25) << "as transformers calls it";
    EXPECT_EQ(read_hugging_face_head(model()), head);
  }
  edit_config([](nlohmann::json& config) {
    config.erase("podium_pair");
    config["classifier_dropout"] = nullptr;
  });
  EXPECT_EQ(read_hugging_face_head(model()), classes({"no", "yes"})) << "others do not say";
  edit_config([](nlohmann::json& config) { config["podium_pair"] = 1; });
  EXPECT_THAT(refusal(), HasSubstr("config.json: podium_pair must be true or false"));
}

TEST_F(HuggingFaceClasses, AreWrittenAsTransformersHasThemAndReadBackToTheBit) {
  const ModelHead head = classes({"no", "yes", "perhaps"});
  write(head);
  EXPECT_EQ(read_hugging_face_head(model()), head);
  const auto config = nlohmann::json::parse(read_file(model() / "config.json"));
  EXPECT_EQ(config.at("architectures").at(0), "BertForSequenceClassification");
  EXPECT_EQ(config.at("problem_type"), "single_label_classification");
  EXPECT_EQ(config.at("id2label"), (nlohmann::json{{"0", "no"}, {"1", "yes"}, {"2", "perhaps"}}));
  EXPECT_EQ(config.at("label2id"), (nlohmann::json{{"no", 0}, {"yes", 1}, {"perhaps", 2}}));
  const SafetensorsFile file(model() / "model.safetensors");
  EXPECT_EQ(file.at("classifier.weight").shape, (std::vector<std::int64_t>{3, 32}));
  EXPECT_EQ(file.at("classifier.bias").shape, (std::vector<std::int64_t>{3}));
  EXPECT_TRUE(file.tensors().contains("bert.pooler.dense.weight"));
  ParameterStore store;
  declare(store, spec_, 0, 1, 0, head);
  EXPECT_THAT(load_hugging_face(model(), spec_, store, head), IsEmpty());
  for (const FullTensor& tensor : expected_tensors(spec_, head))
    EXPECT_TRUE(std::ranges::equal(store.weights(*store.find(tensor.name)), tensor.values)) << tensor.name;
}

TEST_F(HuggingFaceClasses, OfOtherLabelsAreNotTaken) {
  write(classes({"no", "yes"}));
  const auto fresh = testing::ElementsAre("classifier.weight", "classifier.bias");
  EXPECT_THAT(absent(classes({"no", "yes"})), IsEmpty());
  EXPECT_THAT(absent(classes({"yes", "no"})), fresh);
  EXPECT_THAT(absent(classes({"no", "yes", "perhaps"})), fresh);
  EXPECT_THAT(absent(classes({})), fresh);
  edit_config([](auto& config) { config.erase("id2label"); });
  EXPECT_THAT(read_hugging_face_head(model()).labels, testing::ElementsAre("LABEL_0", "LABEL_1"));
  EXPECT_THAT(absent(classes({"no", "yes"})), IsEmpty()) << "labels without names agree with as many";
  EXPECT_THAT(absent(TrainingTask::pretrain), Contains("cls.seq_relationship.weight"));
  edit_config([](auto& config) { config["architectures"] = {"BertForTokenClassification"}; });
  EXPECT_THAT(absent(classes({"no", "yes"})), fresh) << "whose classifier is of tokens";
}

TEST_F(HuggingFaceClasses, AValueHasOneOutputWithoutAName) {
  write(classes({}));
  const auto written = nlohmann::json::parse(read_file(model() / "config.json"));
  EXPECT_EQ(written.at("problem_type"), "regression");
  EXPECT_EQ(written.at("id2label"), (nlohmann::json{{"0", "LABEL_0"}}));
  EXPECT_EQ(read_hugging_face_head(model()), classes({}));
  EXPECT_THAT(absent(classes({})), IsEmpty());
  edit_config([](auto& config) { config.erase("problem_type"); });
  EXPECT_EQ(read_hugging_face_head(model()), classes({}))
      << "one output is a value, as transformers takes it";
}

TEST_F(HuggingFaceClasses, WithLabelsThatAreNoneAreRefused) {
  write(classes({"no", "yes"}));
  for (const nlohmann::json& names : {nlohmann::json{{"1", "a"}, {"2", "b"}}, nlohmann::json{{"0", 5}},
                                      nlohmann::json::array({"a", "b"}), nlohmann::json::object()}) {
    edit_config([&](auto& config) { config["id2label"] = names; });
    EXPECT_THAT(refusal(), HasSubstr("id2label must give a name")) << names;
  }
  edit_config([](auto& config) { config["id2label"] = {{"0", "no"}, {"1", "no"}}; });
  EXPECT_THAT(refusal(), HasSubstr("id2label gives two numbers the name \"no\""));
  edit_config([](auto& config) { config["id2label"] = {{"0", "a"}, {"1", "b"}}; });
  edit_config([](auto& config) { config["problem_type"] = "multi_label_classification"; });
  EXPECT_THAT(refusal(), HasSubstr("problem_type is \"multi_label_classification\""));
  EXPECT_THAT(absent(classes({"a", "b"})), testing::ElementsAre("classifier.weight", "classifier.bias"))
      << "the encoder is of use";
  EXPECT_THAT(why_labels_differ(model(), classes({"a", "b"})), HasSubstr("multi_label_classification"));
  edit_config([](auto& config) { config["problem_type"] = "regression"; });
  EXPECT_THAT(refusal(), HasSubstr("regression of 2 values"));
  edit_config(
      [](auto& config) { config.erase("id2label"), config.erase("problem_type"), config["num_labels"] = 3; });
  EXPECT_THAT(read_hugging_face_head(model()).labels, testing::ElementsAre("LABEL_0", "LABEL_1", "LABEL_2"));
}

// Counts as published: BERT-Large for pre-training, question answering and masked tokens alone, GPT-2 small,
// Llama 2 7B and Llama 3 8B.
TEST(HuggingFaceNames, TheTablesHaveThePublishedSizes) {
  const auto parameters = [](const ModelSpec& spec, const ModelHead& head = {}) {
    std::int64_t count = 0;
    for (const HuggingFaceEntry& entry : hugging_face_entries(spec, head)) {
      std::int64_t size = 1;
      for (const std::int64_t extent : entry.shape) size *= extent;
      count += size;
    }
    return count;
  };
  ModelSpec bert;
  bert.layers = 24, bert.hidden = 1024, bert.heads = 16, bert.intermediate = 4096, bert.vocab = 30522;
  bert.max_positions = 512;
  EXPECT_EQ(parameters(bert), 336'226'108);
  EXPECT_EQ(parameters(bert, TrainingTask::squad), 334'094'338);
  EXPECT_EQ(parameters(bert, ModelHead::of_tokens_alone()), 335'174'458);
  ModelSpec gpt = bert;
  gpt.family = ModelFamily::gpt;
  gpt.layers = 12, gpt.hidden = 768, gpt.heads = 12, gpt.intermediate = 3072, gpt.vocab = 50257;
  gpt.max_positions = 1024;
  EXPECT_EQ(parameters(gpt), 124'439'808);
  ModelSpec llama2;
  llama2.family = ModelFamily::llama;
  llama2.layers = 32, llama2.hidden = 4096, llama2.heads = 32, llama2.intermediate = 11008,
  llama2.vocab = 32000;
  EXPECT_EQ(parameters(llama2), 6'738'415'616);
  ModelSpec llama3 = llama2;
  llama3.key_value_heads = 8, llama3.intermediate = 14336, llama3.vocab = 128256;
  EXPECT_EQ(parameters(llama3), 8'030'261'248);
}

TEST(HuggingFaceTies, ALlamaMayDecodeByItsWordEmbeddings) {
  const TempFolder folder;
  ModelSpec spec = small(ModelFamily::llama);
  spec.tie_embeddings = true;
  const std::vector<FullTensor> tensors = expected_tensors(spec);
  EXPECT_TRUE(std::ranges::none_of(tensors, [](const FullTensor& t) { return t.name == "lm_head.weight"; }));
  write_hugging_face(folder.path() / "tied", spec, source_of(tensors), 1 << 30);
  EXPECT_TRUE(read_hugging_face_config(folder.path() / "tied").tie_embeddings);
  ParameterStore store;
  declare(store, spec);
  EXPECT_THAT(load_hugging_face(folder.path() / "tied", spec, store), IsEmpty());
  const auto found = store.weights(*store.find("model.embed_tokens.weight"));
  EXPECT_EQ(found[7], expected_value("model.embed_tokens.weight", 7));

  ModelSpec untied = spec;
  untied.tie_embeddings = false;
  ParameterStore other;
  declare(other, untied);
  EXPECT_THROW(load_hugging_face(folder.path() / "tied", untied, other), BadData);
}

// A vocabulary of 65,536 tokens has another at that place.
TEST(HuggingFaceConfig, ModelsWithTheVocabularyOfGpt2EndWithItsToken) {
  ModelSpec spec = small(ModelFamily::gpt);
  const auto end = [&](int vocab) {
    spec.vocab = vocab;
    return nlohmann::json::parse(hugging_face_config(spec)).at("eos_token_id");
  };
  for (const int vocab : {50257, 50264, 50304, 51200}) EXPECT_EQ(end(vocab), 50256) << vocab;
  for (const int vocab : {50256, 4096, 65536}) EXPECT_TRUE(end(vocab).is_null()) << vocab;
}

// What makes a folder of transformers another model than ours of the same shape.
TEST(HuggingFaceConfig, RotaryAnglesAndHeadsThatDifferAreRefused) {
  const TempFolder folder;
  const ModelSpec spec = small(ModelFamily::llama);
  const auto error_with = [&](const char* key, const nlohmann::json& value) -> std::string {
    auto config = nlohmann::json::parse(hugging_face_config(spec));
    config[key] = value;
    write_file_atomic(folder.path() / "config.json", config.dump());
    try {
      read_hugging_face_config(folder.path());
    } catch (const BadData& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_with("head_dim", 8), "");
  EXPECT_THAT(error_with("head_dim", 16), HasSubstr("head_dim is 16; podium-worker computes 8 only"));
  EXPECT_THAT(error_with("rope_scaling", {{"rope_type", "llama3"}}), HasSubstr("rope_scaling"));
  EXPECT_EQ(error_with("rope_parameters", {{"rope_type", "default"}, {"rope_theta", 7}}), "");
  EXPECT_EQ(read_hugging_face_config(folder.path()).rope_theta, 7);
  for (const nlohmann::json& refused : {nlohmann::json{{"rope_type", "yarn"}, {"rope_theta", 7}},
                                        nlohmann::json{{"rope_theta", "7"}}, nlohmann::json("default")})
    EXPECT_THAT(error_with("rope_parameters", refused), HasSubstr("rope_parameters is "));
  EXPECT_THAT(error_with("attention_bias", true), HasSubstr("attention_bias"));
  EXPECT_THAT(error_with("num_key_value_heads", 0), HasSubstr("num_key_value_heads must be"));
}

}  // namespace
}  // namespace podium
