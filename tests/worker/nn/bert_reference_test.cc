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
#include "tests/temp_folder.h"
#include "tests/worker/nn/small_bert.h"

namespace podium::test {
namespace {

constexpr float kMlmScale = 0.03F, kNspScale = 0.2F;
constexpr int kSequences = 3, kLength = 40;

template <class T>
std::string raw_bytes(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

struct Reference {
  double mlm = 0, nsp = 0;
  std::vector<float> gradients;
};

void write_case(const std::filesystem::path& folder, const ModelSpec& spec, const ParameterStore& parameters,
                const BertBatch& batch) {
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
  add("masked_positions", batch.masked_positions);
  add("masked_labels", batch.masked_labels);
  add("next_sentence_labels", batch.next_sentence_labels);
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

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

double distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(sum);
}

class BertReference : public testing::TestWithParam<Precision> {};

TEST_P(BertReference, LossesAndGradientsAgree) {
  const ModelSpec spec = small_bert_spec();
  const double tolerance = GetParam() == Precision::fp32 ? 1e-5 : 2e-2;
  Context context{.threads = 2};
  BertForPretraining model(context, spec, kLength, GetParam());
  randomise(model.parameters(), 7);
  const BertBatch batch = random_batch(spec, kSequences, kLength, 11);

  const TempFolder folder;
  write_case(folder.path(), spec, model.parameters(), batch);
  const std::string command =
      "/usr/bin/python3 " PODIUM_SOURCE_DIR "/tests/worker/nn/bert_reference.py " + folder.path().string();
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status == 77) GTEST_SKIP() << "skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)";
  ASSERT_EQ(status, 0);
  const Reference reference = read_reference(folder.path());

  const BertResult result = model.forward_backward(batch, kMlmScale, kNspScale, {});
  EXPECT_NEAR(result.mlm_loss_sum, reference.mlm, tolerance * reference.mlm);
  EXPECT_NEAR(result.nsp_loss_sum, reference.nsp, tolerance * reference.nsp);
  EXPECT_EQ(result.mlm_count, static_cast<std::int64_t>(batch.masked_labels.size()));
  EXPECT_EQ(result.nsp_count, kSequences);

  const std::span<const float> ours = model.parameters().gradients(), theirs = reference.gradients;
  const double whole = norm(theirs);
  for (const Parameter& p : model.parameters().list()) {
    const auto begin = static_cast<std::size_t>(p.offset), size = static_cast<std::size_t>(p.size());
    const double expected = norm(theirs.subspan(begin, size));
    const double error = distance(ours.subspan(begin, size), theirs.subspan(begin, size));
    // A key's bias has no gradient in exact arithmetic: there is nothing to be relative to but the whole.
    const bool vanishing = expected < 1e-9 * whole;
    EXPECT_LE(error, tolerance * (vanishing ? whole : expected)) << p.name << ": gradient norm " << expected;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, BertReference, testing::Values(Precision::fp32, Precision::bf16),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace podium::test
