// Folders written and read by PyTorch and Python's standard library (hugging_face_reference.py), and every
// way in which a folder can be wrong.
#include "worker/formats/hugging_face.h"

#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "tests/worker/formats/small_models.h"
#include "worker/comm/parallel.h"
#include "worker/comm/single_communicator.h"
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

bool run_reference(const std::string& arguments) {
  const int status = WEXITSTATUS(std::system(
      ("/usr/bin/python3 " + test::source_path("tests/worker/formats/hugging_face_reference.py ") + arguments)
          .c_str()));
  EXPECT_TRUE(status == 0 || status == 77) << arguments;
  return status == 0;
}

constexpr std::array kForms{"",      "+bf16",    "+f16",     "+bare",       "+gamma",
                            "+tied", "+buffers", "+sharded", "+bare+gamma", "+sharded+tied+bf16+buffers"};

class HuggingFace : public testing::TestWithParam<ModelFamily> {
 protected:
  // All folders at once: starting PyTorch takes seconds.
  static void SetUpTestSuite() {
    written_ = std::make_unique<TempFolder>();
    std::string folders = " " + (written_->path() / "bert+headless+bare").string();
    for (const char* family : {"bert", "gpt", "llama"})
      for (const char* form : kForms) folders += " " + (written_->path() / family).string() + form;
    has_reference_ = run_reference("write" + folders);
  }
  static void TearDownTestSuite() { written_.reset(); }

  std::string family() const { return std::string(to_string(GetParam())); }
  // A folder the reference wrote.
  fs::path reference(const std::string& form) const { return written_->path() / (family() + form); }
  ModelSpec spec() const { return small(GetParam()); }
  fs::path file(const std::string& name) const { return path_ / name; }
  void write(std::int64_t shard_bytes = 1 << 30) const {
    const std::vector<FullTensor> tensors = expected_tensors(spec());
    write_hugging_face(path_, spec(), source_of(tensors), shard_bytes);
  }

  std::string error_of_loading(const ModelSpec& spec) const {
    ParameterStore store;
    declare(store, spec);
    try {
      load_hugging_face(path_, spec, store);
    } catch (const BadData& error) {
      return error.what();
    }
    return "";
  }
  // Ours, so that each can be wrong in one place only.
  void write_tensors(std::vector<FullTensor> tensors) const {
    std::vector<TensorEntry> entries;
    for (const FullTensor& t : tensors)
      entries.push_back({t.name, "F32", t.shape, std::as_bytes(std::span(t.values))});
    write_safetensors(file("model.safetensors"), std::move(entries), {});
  }
  void change_config(const std::string& key, const nlohmann::json& value) const {
    auto config = nlohmann::json::parse(read_file(file("config.json")));
    config[key] = value;
    write_file_atomic(file("config.json"), config.dump());
  }

  static std::unique_ptr<TempFolder> written_;
  static bool has_reference_;
  TempFolder folder_;
  fs::path path_ = folder_.path() / "model";  // ours
};

std::unique_ptr<TempFolder> HuggingFace::written_;
bool HuggingFace::has_reference_ = false;

#define PODIUM_NEEDS_REFERENCE() \
  if (!has_reference_)           \
  GTEST_SKIP() << "skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)"

// A family's file says twice what a model consists of: its layers' names, which both sides read, and its
// head's tensors beside the head.
TEST_P(HuggingFace, AFolderHasTheVeryParametersThatTheModelDeclares) {
  Context context;
  SingleCommunicator world;
  ParallelGroups groups = make_groups(world, {});
  const auto model = make_model(context, spec(), {}, groups);
  const auto shapes_of = [](const ParameterStore& store) {
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (const Parameter& p : store.list())
      for (int axis = 0; axis < p.shape.rank(); ++axis) shapes[p.name].push_back(p.shape[axis]);
    return shapes;
  };
  ParameterStore listed;
  declare(listed, spec());
  EXPECT_EQ(shapes_of(listed), shapes_of(model->parameters()));
}

TEST_P(HuggingFace, EveryFormOfAFolderIsRead) {
  PODIUM_NEEDS_REFERENCE();
  for (const char* form : kForms) {
    SCOPED_TRACE(form);
    ParameterStore store;
    declare(store, spec());
    const std::int64_t before = store.generation();
    EXPECT_THAT(load_hugging_face(reference(form), spec(), store), IsEmpty());
    EXPECT_GT(store.generation(), before);
    for (const FullTensor& tensor : expected_tensors(spec())) {
      const auto found = store.weights(*store.find(tensor.name));
      EXPECT_TRUE(std::equal(found.begin(), found.end(), tensor.values.begin(), tensor.values.end()))
          << tensor.name;
    }
  }
}

TEST_P(HuggingFace, EveryRankGetsItsSlice) {
  PODIUM_NEEDS_REFERENCE();
  for (const int axis : {0, 1})
    for (int rank = 0; rank < 2; ++rank) {
      ParameterStore store;
      declare(store, spec(), rank, 2, axis);
      load_hugging_face(reference(""), spec(), store);
      for (const Parameter& p : store.list()) {
        const std::int64_t columns = p.shape.rank() == 2 ? p.shape[1] : p.shape[0];
        const std::int64_t full_columns = p.full_shape()[p.shape.rank() - 1];
        for (std::int64_t i = 0; i < p.size(); ++i) {
          const std::int64_t row = i / columns + (p.slice.axis == 0 ? p.slice.begin : 0);
          const std::int64_t column = i % columns + (p.slice.axis == 1 ? p.slice.begin : 0);
          ASSERT_EQ(store.weights(p)[static_cast<std::size_t>(i)],
                    expected_value(p.name, row * full_columns + column))
              << p.name;
        }
      }
    }
}

TEST_P(HuggingFace, WhatIsWrittenThereIsThatModel) {
  PODIUM_NEEDS_REFERENCE();
  path_ = folder_.path() / family();
  write();
  EXPECT_THROW(write(), BadData) << "there is one";
  const fs::path single = path_;
  path_ = folder_.path() / (family() + "+sharded");
  write(20'000);
  EXPECT_TRUE(fs::exists(file("model.safetensors.index.json")));
  EXPECT_GT(std::distance(fs::directory_iterator(path_), fs::directory_iterator()), 4);
  EXPECT_TRUE(run_reference("check " + single.string() + " " + path_.string()));
}

TEST_P(HuggingFace, TheConfigGivesTheShape) {
  PODIUM_NEEDS_REFERENCE();
  const ModelSpec found = read_hugging_face_config(reference("")), expected = spec();
  EXPECT_EQ(found.family, expected.family);
  EXPECT_EQ(found.layers, expected.layers);
  EXPECT_EQ(found.hidden, expected.hidden);
  EXPECT_EQ(found.heads, expected.heads);
  EXPECT_EQ(found.key_heads(), expected.key_heads());
  EXPECT_EQ(found.rope_theta, expected.rope_theta);
  EXPECT_EQ(found.intermediate, expected.intermediate);
  EXPECT_EQ(found.vocab, expected.vocab);
  EXPECT_EQ(found.max_positions, expected.max_positions);
  EXPECT_EQ(found.dropout, GetParam() == ModelFamily::llama ? 0 : 0.1);
  EXPECT_EQ(found.attention_dropout, 0.1);
  EXPECT_EQ(found.initializer_range, 0.02);
}

TEST_P(HuggingFace, ALargerVocabularyKeepsItsOtherRows) {
  write();
  ModelSpec padded = spec();
  padded.vocab = 56;
  ParameterStore store;
  declare(store, padded);
  std::fill(store.weights().begin(), store.weights().end(), 7.0F);
  load_hugging_face(path_, padded, store);
  const Parameter& p = *store.find(family_of(GetParam()).names.word);
  for (std::int64_t i = 0; i < p.size(); ++i)
    ASSERT_EQ(store.weights(p)[static_cast<std::size_t>(i)], i < 50 * 32 ? expected_value(p.name, i) : 7.0F);
}

TEST_P(HuggingFace, ADifferentModelIsRefusedByItsConfig) {
  write();
  const auto error_with = [&](auto change) {
    ModelSpec other = spec();
    change(other);
    return error_of_loading(other);
  };
  EXPECT_THAT(error_with([](ModelSpec& s) { s.layers = 3; }),
              HasSubstr("config.json: the models differ: model.layers is 2"));
  EXPECT_THAT(error_with([](ModelSpec& s) { s.hidden = 64; }), HasSubstr("model.hidden is 32"));
  EXPECT_THAT(error_with([](ModelSpec& s) { s.heads = 2; }), HasSubstr("model.heads is 4"));
  EXPECT_THAT(error_with([](ModelSpec& s) { s.intermediate = 64; }), HasSubstr("model.intermediate is 96"));
  EXPECT_THAT(error_with([](ModelSpec& s) { s.max_positions = 12; }), HasSubstr("model.max_positions is 24"));
  EXPECT_THAT(error_with([](ModelSpec& s) { s.vocab = 48; }), HasSubstr("model.vocab is 50"));
  if (GetParam() == ModelFamily::llama) {
    EXPECT_THAT(error_with([](ModelSpec& s) { s.key_value_heads = 1; }),
                HasSubstr("model.key_value_heads is 2"));
    EXPECT_THAT(error_with([](ModelSpec& s) { s.rope_theta = 10; }), HasSubstr("model.rope_theta is"));
  }
  EXPECT_EQ(error_with([](ModelSpec&) {}), "");
}

TEST_P(HuggingFace, ATensorThatIsMissingStrangeOrMisshapenIsNamed) {
  write();
  const std::vector<FullTensor> good = to_hugging_face(spec(), expected_tensors(spec()));
  std::vector<FullTensor> tensors = good;
  const std::string name = tensors[1].name;
  tensors.erase(tensors.begin() + 1);
  write_tensors(tensors);
  EXPECT_THAT(error_of_loading(spec()), HasSubstr("no tensor \"" + name + "\""));

  tensors = good;
  tensors.push_back({"encoder.layer.2.output.dense.weight", {1}, {0}});
  write_tensors(tensors);
  EXPECT_THAT(error_of_loading(spec()), HasSubstr("model.safetensors: the tensor \"encoder.layer.2.output"));

  tensors = good;
  FullTensor& misshapen = *std::ranges::find_if(tensors, [](const FullTensor& tensor) {
    return tensor.shape.size() == 2 && tensor.shape[0] < tensor.shape[1];
  });
  const std::string right = fmt::format("[{}]", fmt::join(misshapen.shape, ", "));
  std::swap(misshapen.shape[0], misshapen.shape[1]);
  const std::string wrong = fmt::format("[{}]", fmt::join(misshapen.shape, ", "));
  write_tensors(tensors);
  EXPECT_THAT(error_of_loading(spec()),
              HasSubstr("\"" + misshapen.name + "\" is of shape " + wrong + "; the model's is " + right));

  if (!ties_embeddings(spec())) return;
  tensors = good;
  tensors.push_back(
      {std::string(family_of(GetParam()).hugging_face.tied), tensors[0].shape, tensors[0].values});
  write_tensors(tensors);
  EXPECT_EQ(error_of_loading(spec()), "");
  tensors.back().values[3] += 1;
  write_tensors(tensors);
  EXPECT_THAT(error_of_loading(spec()), HasSubstr("differs from the word embeddings"));
}

TEST_P(HuggingFace, AnUnusableTypeIsNamed) {
  write();
  std::vector<TensorEntry> entries;
  std::vector<FullTensor> tensors = to_hugging_face(spec(), expected_tensors(spec()));
  for (const FullTensor& t : tensors)
    entries.push_back({t.name, "I32", t.shape, std::as_bytes(std::span(t.values))});
  write_safetensors(file("model.safetensors"), std::move(entries), {});
  EXPECT_THAT(error_of_loading(spec()), HasSubstr("has type I32"));
}

TEST_P(HuggingFace, AnIndexThatLeavesTheFolderOrLiesIsRefused) {
  write(20'000);
  const fs::path index = file("model.safetensors.index.json");
  const auto good = nlohmann::json::parse(read_file(index));
  const std::string name(family_of(GetParam()).names.word);
  const auto error_with = [&](const std::string& where) {
    auto changed = good;
    changed["weight_map"][name] = where;
    write_file_atomic(index, changed.dump());
    return error_of_loading(spec());
  };
  fs::copy_file(file(good["weight_map"][name].get<std::string>()), folder_.path() / "outside.safetensors");
  const std::string outside = (folder_.path() / "outside.safetensors").string();
  for (const std::string& where :
       {std::string("../outside.safetensors"), outside, std::string(".."), std::string("."), std::string(),
        std::string("sub/../../outside.safetensors")})
    EXPECT_THAT(error_with(where), HasSubstr("no file of this folder")) << where;
  EXPECT_THAT(error_with("missing.safetensors"), HasSubstr("missing.safetensors"));
  const std::string right = good["weight_map"][name];
  const std::string other =
      "model-0000" + std::string(right.find("00001-") == 6 ? "2" : "1") + right.substr(11);
  EXPECT_THAT(error_with(other), HasSubstr("no tensor \"" + name + "\""));
  write_file_atomic(index, "{\"weight_map\": 3}");
  EXPECT_THAT(error_of_loading(spec()), HasSubstr("index.json"));
}

TEST_P(HuggingFace, AFolderWithoutAModelSaysSo) {
  EXPECT_THAT(error_of_loading(spec()), HasSubstr("config.json"));
  write();
  fs::remove(file("model.safetensors"));
  EXPECT_THAT(error_of_loading(spec()), HasSubstr("holds neither model.safetensors nor"));
}

TEST_P(HuggingFace, AnotherActivationOrKindOfModelIsRefused) {
  const HuggingFaceForm& form = family_of(GetParam()).hugging_face;
  const auto error_with = [&](const char* key, const nlohmann::json& value) {
    fs::remove_all(path_);
    write();
    change_config(key, value);
    return error_of_loading(spec());
  };
  EXPECT_THAT(error_with(GetParam() == ModelFamily::gpt ? "activation_function" : "hidden_act", "relu"),
              HasSubstr("relu"));
  const std::string epsilon(form.norm_epsilon);
  EXPECT_THAT(error_with(epsilon.c_str(), 1e-6), HasSubstr(epsilon + " is 1e-06"));
  EXPECT_THAT(
      error_with("tie_word_embeddings", !ties_embeddings(spec())),
      testing::ContainsRegex("tie_word_embeddings is false|model.tie_embeddings is true"));
  EXPECT_THAT(error_with("model_type", "t5"), HasSubstr("model_type is \"t5\""));
  EXPECT_THAT(error_with("vocab_size", "many"), HasSubstr("vocab_size must be"));
  EXPECT_THAT(error_with("vocab_size", -3), HasSubstr("vocab_size must be"));
  EXPECT_THAT(error_with(std::string(form.layers).c_str(), 1'000'000'000), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(error_with("vocab_size", 1e300), HasSubstr("vocab_size must be"));
}

TEST_P(HuggingFace, WhatFailsHalfwayLeavesNothingAndCanBeDoneAgain) {
  const std::vector<FullTensor> tensors = expected_tensors(spec());
  int left = 5;
  const TensorSource fails = [&, whole = source_of(tensors)](const std::string& name,
                                                             const std::vector<std::int64_t>& shape) {
    if (--left < 0) throw BadData("the checkpoint is damaged");
    return whole(name, shape);
  };
  constexpr std::int64_t kShard = 4096;  // several files, of which the first are written when it fails
  EXPECT_THROW(write_hugging_face(path_, spec(), fails, kShard), BadData);
  EXPECT_TRUE(fs::is_empty(path_));
  write(kShard);
  EXPECT_TRUE(fs::exists(file("model.safetensors.index.json")));
  ParameterStore store;
  declare(store, spec());
  load_hugging_face(path_, spec(), store);
}

TEST_P(HuggingFace, HeadsThatAreNotThereAreTold) {
  PODIUM_NEEDS_REFERENCE();
  if (GetParam() != ModelFamily::bert) return;
  ParameterStore store;
  declare(store, spec());
  std::fill(store.weights().begin(), store.weights().end(), 7.0F);
  EXPECT_THAT(load_hugging_face(reference("+headless+bare"), spec(), store),
              Contains("cls.seq_relationship.weight"));
  EXPECT_THAT(store.weights(*store.find("bert.pooler.dense.weight")), testing::Each(7.0F));
  EXPECT_EQ(store.weights(*store.find("bert.encoder.layer.1.output.dense.bias"))[3],
            expected_value("bert.encoder.layer.1.output.dense.bias", 3));
}

INSTANTIATE_TEST_SUITE_P(Families, HuggingFace,
                         testing::Values(ModelFamily::bert, ModelFamily::gpt, ModelFamily::llama),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace podium
