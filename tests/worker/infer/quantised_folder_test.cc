// Quantised folders: what is written is read back, and nothing else is taken for a model.
#include "worker/infer/quantised_folder.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/infer/small_source.h"
#include "worker/formats/hugging_face.h"
#include "worker/formats/safetensors.h"
#include "worker/infer/calibration.h"
#include "worker/input/bad_data.h"

namespace podium::test {
namespace {

SourceModel quantised_model(InferencePrecision precision, bool sparse) {
  const ModelSpec spec = small_spec(ModelFamily::bert);
  LoneModel lone(spec, {});
  const SourceModel source = source_of(spec, lone.model->parameters());
  InputRanges ranges;
  for (int layer = 0; layer < spec.layers; ++layer)
    for (const EncoderProduct& product : encoder_products(spec, layer))
      ranges[product.name].add(std::vector<float>{0.5F, -3.0F});
  return quantise_model(source, ranges, {precision, sparse});
}

// A folder whose files each test damages in one way.
class QuantisedFolder : public testing::Test {
 protected:
  static constexpr char kProduct[] = "bert.encoder.layer.0.output.dense";

  QuantisedFolder() { write_quantised_folder(folder(), model_, {{"text", "none"}}); }
  std::filesystem::path folder() const { return temp_.path() / "model"; }
  std::string refusal() const {
    try {
      read_quantised_folder(folder());
    } catch (const BadData& error) {
      return error.what();
    }
    return "";
  }
  void describe(const std::string& json) const { write_file_atomic(folder() / kQuantisationFile, json); }
  // Rewrites the weights after `change`.
  void rewrite(const std::function<void(std::map<std::string, LinearData>& products)>& change) {
    change(model_.products);
    std::filesystem::remove_all(folder());
    write_quantised_folder(folder(), model_, {});
  }

  TempFolder temp_;
  SourceModel model_ = quantised_model(InferencePrecision::int8, true);
};

TEST_F(QuantisedFolder, GivesBackWhatWasWritten) {
  for (const InferencePrecision precision : {InferencePrecision::int8, InferencePrecision::fp8}) {
    for (const bool sparse : {false, true}) {
      const SourceModel written = quantised_model(precision, sparse);
      std::filesystem::remove_all(folder());
      write_quantised_folder(folder(), written, {});
      const SourceModel read = read_quantised_folder(folder());
      EXPECT_EQ(read.quantised_to, precision);
      EXPECT_EQ(read.spec.layers, written.spec.layers);
      ASSERT_EQ(read.tensors.size(), written.tensors.size());
      for (const auto& [name, tensor] : written.tensors) EXPECT_EQ(read.values(name), tensor.values) << name;
      ASSERT_EQ(read.products.size(), written.products.size());
      for (const auto& [name, data] : written.products) {
        const LinearData& found = read.products.at(name);
        EXPECT_EQ(found.values, data.values) << name;
        EXPECT_EQ(found.positions, data.positions);
        EXPECT_EQ(found.weight_scales, data.weight_scales);
        EXPECT_EQ(found.input_scale, data.input_scale);
        EXPECT_EQ(found.bias, data.bias);
        EXPECT_EQ(found.type, data.type);
      }
    }
  }
}

TEST_F(QuantisedFolder, RefusesOtherDescriptions) {
  for (const auto& [text, hint] :
       {std::pair("nonsense", "quantization.json"), std::pair("[]", "quantization.json"),
        std::pair(R"({"version": 2, "format": "int8", "sparse": true})", "version 2"),
        std::pair(R"({"version": 1, "format": "int4", "sparse": true})", "int4"),
        std::pair(R"({"version": 1, "format": "int8"})", "sparse"),
        std::pair(R"({"version": 1, "format": "fp8", "sparse": true})", "type or shape"),
        std::pair(R"({"version": 1, "format": "int8", "sparse": false})", "shape")}) {
    describe(text);
    EXPECT_NE(refusal().find(hint), std::string::npos) << text << ": " << refusal();
  }
}

TEST_F(QuantisedFolder, RefusesScalesAndPositionsThatMakeNoSense) {
  rewrite([](auto& products) { products.at(kProduct).input_scale = 0; });
  EXPECT_NE(refusal().find("input_scale"), std::string::npos) << refusal();
  rewrite([](auto& products) {
    products.at(kProduct).input_scale = 1;
    products.at(kProduct).weight_scales[3] = NAN;
  });
  EXPECT_NE(refusal().find("weight_scale"), std::string::npos) << refusal();
  rewrite([](auto& products) {
    products.at(kProduct).weight_scales[3] = 1;
    products.at(kProduct).positions[5] = 0x44;
  });
  EXPECT_EQ(refusal(), "") << "places 0 and 1";
  rewrite([](auto& products) { products.at(kProduct).positions[5] = 0x45; });
  EXPECT_NE(refusal().find("ascend"), std::string::npos) << refusal();
}

TEST_F(QuantisedFolder, RefusesMissingTensorsAndStrangers) {
  rewrite([](auto& products) { products["stranger"] = products.at(kProduct); });
  EXPECT_NE(refusal().find("stranger"), std::string::npos) << refusal();
  rewrite([](auto& products) {
    products.erase("stranger");
    products.erase(kProduct);
  });
  EXPECT_NE(refusal().find(kProduct), std::string::npos) << refusal();
}

TEST_F(QuantisedFolder, AnswersEveryDamageOfItsBytes) {
  const std::string weights = read_file(folder() / "model.safetensors");
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{100}, weights.size() - 1}) {
    write_file_atomic(folder() / "model.safetensors", weights.substr(0, size));
    EXPECT_NE(refusal(), "") << size;
  }
  Random random(1, 2);
  for (int i = 0; i < 200; ++i) {  // within the header, which begins after its length
    std::string damaged = weights;
    damaged[8 + random.below(2000)] = static_cast<char>(random.below(256));
    write_file_atomic(folder() / "model.safetensors", damaged);
    refusal();  // whatever it says, it does not crash
  }
}

}  // namespace
}  // namespace podium::test
