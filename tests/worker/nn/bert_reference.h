// BERT in PyTorch (bert_reference.py) on the weights and the batch of a test.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "tests/worker/nn/small_models.h"

namespace podium::test {

template <class T>
std::string raw_bytes(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// What the head is called there, what it predicts, and the scale of each of its losses.
struct ReferenceHead {
  std::string name;
  std::map<std::string, std::vector<std::int32_t>> targets;
  std::map<std::string, float> scales;
  std::vector<float> teacher = {};  // its scores, with those of padding
  double temperature = 1;
};

struct Reference {
  std::map<std::string, double> losses;
  std::vector<float> gradients;  // laid out like the parameters
  std::vector<float> predictions;
};

inline std::vector<float> read_floats(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Nothing where there is no PyTorch. With `ranges`, by product, it rounds their inputs and weights to int8.
inline std::optional<Reference> run_reference(const ModelSpec& spec, const ParameterStore& parameters,
                                              const MicroBatch& batch, const ReferenceHead& head,
                                              const std::vector<float>& ranges = {}) {
  const TempFolder temp;
  const std::filesystem::path& folder = temp.path();
  nlohmann::json description = {{"layers", spec.layers},
                                {"hidden", spec.hidden},
                                {"heads", spec.heads},
                                {"sequences", batch.sequences},
                                {"length", batch.length},
                                {"head", head.name},
                                {"scales", head.scales},
                                {"teacher", head.teacher},
                                {"temperature", head.temperature},
                                {"parameters", nlohmann::json::array()},
                                {"batch", nlohmann::json::array()}};
  for (const Parameter& p : parameters.list()) {
    std::vector<std::int64_t> shape;
    for (int axis = 0; axis < p.shape.rank(); ++axis) shape.push_back(p.shape[axis]);
    description["parameters"].push_back({p.name, p.offset, shape});
  }
  if (!ranges.empty()) description["ranges"] = ranges;
  std::string integers;
  const auto add = [&](const std::string& name, const std::vector<std::int32_t>& values) {
    description["batch"].push_back({name, values.size()});
    integers += raw_bytes(std::span(values));
  };
  add("input_ids", batch.input_ids);
  add("token_types", batch.token_types);
  add("valid_lengths", batch.valid_lengths);
  for (const auto& [name, values] : head.targets) add(name, values);
  write_file_atomic(folder / "case.json", description.dump());
  write_file_atomic(folder / "weights.f32", raw_bytes(parameters.weights()));
  write_file_atomic(folder / "batch.i32", integers);

  const std::string command =
      "/usr/bin/python3 " + source_path("tests/worker/nn/bert_reference.py ") + folder.string();
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status == 77) return std::nullopt;
  EXPECT_EQ(status, 0);
  Reference reference{.gradients = read_floats(folder / "gradients.f32")};
  reference.losses = nlohmann::json::parse(read_file(folder / "losses.json"));
  if (std::filesystem::exists(folder / "predictions.f32"))
    reference.predictions = read_floats(folder / "predictions.f32");
  return reference;
}

inline std::vector<float> part_of(std::span<const float> flat, const Parameter& p) {
  const auto values = flat.subspan(static_cast<std::size_t>(p.offset), static_cast<std::size_t>(p.size()));
  return {values.begin(), values.end()};
}

// A key's bias has no gradient in exact arithmetic: there is nothing to be relative to but the whole.
inline void expect_gradients(ParameterStore& store, const Reference& reference, double tolerance) {
  const double whole = norm(reference.gradients);
  for (const Parameter& p : store.list()) {
    const std::vector<float> theirs = part_of(reference.gradients, p);
    const double expected = norm(theirs);
    const double error = distance(part_of(store.gradients(), p), theirs);
    const bool vanishing = expected < 1e-9 * whole;
    EXPECT_LE(error, tolerance * (vanishing ? whole : expected)) << p.name << ": gradient norm " << expected;
  }
}

}  // namespace podium::test
