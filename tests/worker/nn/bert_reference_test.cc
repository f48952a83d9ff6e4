// The whole model against the same model in PyTorch (double precision): losses and every parameter's
// gradient.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "tests/worker/nn/small_models.h"
#include "worker/nn/pretraining_head.h"

namespace podium::test {
namespace {

constexpr float kMlmScale = 0.03F, kNspScale = 0.2F;
constexpr int kSequences = 3;

template <class T>
std::string raw_bytes(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

struct Reference {
  double mlm = 0, nsp = 0;
  std::vector<float> gradients;
};

void write_case(const std::filesystem::path& folder, const ModelSpec& spec, const ParameterStore& parameters,
                const MicroBatch& batch) {
  nlohmann::json description = {{"layers", spec.layers},
                                {"hidden", spec.hidden},
                                {"heads", spec.heads},
                                {"sequences", batch.sequences},
                                {"length", batch.length},
                                {"mlm_scale", kMlmScale},
                                {"nsp_scale", kNspScale},
                                {"parameters", nlohmann::json::array()},
                                {"batch", nlohmann::json::array()}};
  for (const Parameter& p : parameters.list()) {
    std::vector<std::int64_t> shape;
    for (int axis = 0; axis < p.shape.rank(); ++axis) shape.push_back(p.shape[axis]);
    description["parameters"].push_back({p.name, p.offset, shape});
  }
  std::string integers;
  const auto add = [&](const char* name, const std::vector<std::int32_t>& values) {
    description["batch"].push_back({name, values.size()});
    integers += raw_bytes(std::span(values));
  };
  add("input_ids", batch.input_ids);
  add("token_types", batch.token_types);
  add("valid_lengths", batch.valid_lengths);
  add("masked_positions", batch.targets[kLanguageTerm].positions);
  add("masked_labels", batch.targets[kLanguageTerm].labels);
  add("next_sentence_labels", batch.targets[kNextSentenceTerm].labels);
  write_file_atomic(folder / "case.json", description.dump());
  write_file_atomic(folder / "weights.f32", raw_bytes(parameters.weights()));
  write_file_atomic(folder / "batch.i32", integers);
}

Reference read_reference(const std::filesystem::path& folder) {
  const auto losses = nlohmann::json::parse(read_file(folder / "losses.json"));
  const std::string bytes = read_file(folder / "gradients.f32");
  std::vector<float> gradients(bytes.size() / sizeof(float));
  std::memcpy(gradients.data(), bytes.data(), bytes.size());
  return {losses.at("mlm"), losses.at("nsp"), std::move(gradients)};
}

std::vector<float> part_of(std::span<const float> flat, const Parameter& p) {
  const auto values = flat.subspan(static_cast<std::size_t>(p.offset), static_cast<std::size_t>(p.size()));
  return {values.begin(), values.end()};
}

class BertReference : public testing::TestWithParam<Precision> {};

TEST_P(BertReference, LossesAndGradientsAgree) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  const double tolerance = GetParam() == Precision::fp32 ? 1e-5 : 2e-2;
  LoneModel lone(spec, {.precision = GetParam()});
  ParameterStore& store = lone.model->parameters();
  const MicroBatch batch = random_batch(spec, kSequences, 11);

  const TempFolder folder;
  write_case(folder.path(), spec, store, batch);
  const std::string command =
      "/usr/bin/python3 " + test::source_path("tests/worker/nn/bert_reference.py ") + folder.path().string();
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status == 77) GTEST_SKIP() << "skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)";
  ASSERT_EQ(status, 0);
  const Reference reference = read_reference(folder.path());

  const Pass pass{batch, {kMlmScale, kNspScale}, {}, true};
  const LossSums losses = forward(*lone.model, pass);
  backward(*lone.model, pass);
  EXPECT_NEAR(losses[kLanguageTerm].loss, reference.mlm, tolerance * reference.mlm);
  EXPECT_NEAR(losses[kNextSentenceTerm].loss, reference.nsp, tolerance * reference.nsp);
  EXPECT_EQ(losses[kLanguageTerm].count,
            static_cast<std::int64_t>(batch.targets[kLanguageTerm].labels.size()));
  EXPECT_EQ(losses[kNextSentenceTerm].count, kSequences);

  const double whole = norm(reference.gradients);
  for (const Parameter& p : store.list()) {
    const std::vector<float> theirs = part_of(reference.gradients, p);
    const double expected = norm(theirs);
    const double error = distance(part_of(store.gradients(), p), theirs);
    // A key's bias has no gradient in exact arithmetic: there is nothing to be relative to but the whole.
    const bool vanishing = expected < 1e-9 * whole;
    EXPECT_LE(error, tolerance * (vanishing ? whole : expected)) << p.name << ": gradient norm " << expected;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, BertReference, testing::Values(Precision::fp32, Precision::bf16),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace podium::test
