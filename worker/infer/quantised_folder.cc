#include "worker/infer/quantised_folder.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/base/file.h"
#include "worker/formats/hugging_face.h"
#include "worker/formats/hugging_face_config.h"
#include "worker/formats/hugging_face_names.h"
#include "worker/formats/safetensors.h"
#include "worker/input/bad_data.h"
#include "worker/tokenizer/load_tokenizer.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kVersion = 1;
constexpr char kWeightsFile[] = "model.safetensors";

const char* file_type(InferencePrecision precision) {
  return precision == InferencePrecision::int8 ? "I8" : "F8_E4M3";
}

struct Description {
  InferencePrecision precision = InferencePrecision::int8;
  bool sparse = false;
};

Description read_description(const fs::path& path) {
  try {
    const json description = json::parse(read_file(path));
    const int version = description.at("version");
    if (version != kVersion)
      throw BadData(fmt::format("{}: version {} of the format; this podium-worker reads version {}",
                                path.string(), version, kVersion));
    const std::string format = description.at("format");
    if (format != "int8" && format != "fp8")
      throw BadData(path.string() + ": format is \"" + format + "\"; known are int8 and fp8");
    return {inference_precision_from(format), description.at("sparse")};
  } catch (const json::exception& error) {
    throw BadData(path.string() + ": " + error.what());
  }
}

std::vector<std::string> parameters_of(const EncoderProduct& product) {
  std::vector<std::string> names;
  for (const std::string& layer : product.layers) {
    names.push_back(layer + ".weight");
    names.push_back(layer + ".bias");
  }
  return names;
}

std::set<std::string> quantised_parameters(const ModelSpec& spec) {
  std::set<std::string> names;
  for (int layer = 0; layer < spec.layers; ++layer)
    for (const EncoderProduct& product : encoder_products(spec, layer))
      for (const std::string& name : parameters_of(product)) names.insert(name);
  return names;
}

class Reader {
 public:
  Reader(const fs::path& folder, const ModelSpec& spec, const Description& description)
      : file_(folder / kWeightsFile), spec_(spec), description_(description) {}

  void read(SourceModel& model) {
    const std::set<std::string> quantised = quantised_parameters(spec_);
    for (const HuggingFaceEntry& entry : hugging_face_entries(spec_, model.head)) {
      if (quantised.contains(entry.name)) continue;
      if (entry.optional && !file_.tensors().contains(entry.name)) continue;
      model.tensors[entry.name] = {entry.name, entry.shape, floats(entry.name, entry.shape)};
    }
    for (int layer = 0; layer < spec_.layers; ++layer)
      for (const EncoderProduct& product : encoder_products(spec_, layer))
        model.products[product.name] = read_product(product);
    for (const auto& [name, tensor] : file_.tensors())
      if (!read_.contains(name)) refuse(name, "is no part of the model that config.json describes");
  }

 private:
  [[noreturn]] void refuse(const std::string& name, const std::string& what) const {
    throw BadData(file_.path().string() + ": the tensor \"" + name + "\" " + what);
  }

  template <class T>
  std::vector<T> values(const std::string& name, const char* type, const std::vector<std::int64_t>& shape) {
    read_.insert(name);
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    check(name, type, shape);  // before memory is taken for it
    std::vector<T> result(count);
    file_.read(name, type, shape, std::as_writable_bytes(std::span(result)));
    return result;
  }
  void check(const std::string& name, const char* type, const std::vector<std::int64_t>& shape) const {
    const SafetensorsTensor& found = file_.at(name);
    if (found.dtype != type || found.shape != shape)
      refuse(name, "is of another type or shape than config.json and quantization.json say");
  }
  std::vector<float> floats(const std::string& name, const std::vector<std::int64_t>& shape) {
    std::vector<float> result = values<float>(name, "F32", shape);
    if (!std::ranges::all_of(result, [](float v) { return std::isfinite(v); }))
      refuse(name, "holds a value that is not finite");
    return result;
  }
  std::vector<float> scales(const std::string& name, std::int64_t count) {
    std::vector<float> result = floats(name, {count});
    if (!std::ranges::all_of(result, [](float v) { return v > 0; }))
      refuse(name, "holds a scale that is not positive");
    return result;
  }
  std::vector<std::uint8_t> positions(const std::string& name, const EncoderProduct& product) {
    auto result = values<std::uint8_t>(name, "U8", {product.out, product.in / 8});
    const auto ascending = [](int nibble) { return (nibble & 3) < (nibble >> 2 & 3); };
    if (!std::ranges::all_of(result, [&](std::uint8_t v) { return ascending(v) && ascending(v >> 4); }))
      refuse(name, "holds positions that do not ascend within their group of four");
    return result;
  }

  LinearData read_product(const EncoderProduct& product) {
    const std::string& name = product.name;
    LinearData data{.type = product_type(description_.precision), .out = product.out, .in = product.in};
    data.values = values<std::byte>(name + ".weight", file_type(description_.precision),
                                    {product.out, description_.sparse ? product.in / 2 : product.in});
    if (description_.sparse) data.positions = positions(name + ".weight_positions", product);
    data.weight_scales = scales(name + ".weight_scale", product.out);
    data.input_scale = scales(name + ".input_scale", 1).front();
    data.bias = floats(name + ".bias", {product.out});
    return data;
  }

  SafetensorsFile file_;
  const ModelSpec& spec_;
  Description description_;
  std::set<std::string> read_;
};

std::span<const std::byte> float_bytes(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

void write_weights(const fs::path& path, const SourceModel& model) {
  std::vector<TensorEntry> entries;
  for (const auto& [name, tensor] : model.tensors)
    entries.push_back({name, "F32", tensor.shape, float_bytes(tensor.values)});
  std::map<std::string, std::vector<float>> input_scales;
  for (const auto& [name, data] : model.products) {
    const std::int64_t columns = data.sparse() ? data.in / 2 : data.in;
    const std::vector<float>& scale = input_scales[name] = {data.input_scale};
    entries.push_back({name + ".weight", file_type(*model.quantised_to), {data.out, columns}, data.values});
    if (data.sparse())
      entries.push_back({name + ".weight_positions",
                         "U8",
                         {data.out, data.in / 8},
                         std::as_bytes(std::span(data.positions))});
    entries.push_back({name + ".weight_scale", "F32", {data.out}, float_bytes(data.weight_scales)});
    entries.push_back({name + ".input_scale", "F32", {1}, float_bytes(scale)});
    entries.push_back({name + ".bias", "F32", {data.out}, float_bytes(data.bias)});
  }
  write_safetensors(path, std::move(entries), {{"format", "pt"}});
}

}  // namespace

SourceModel read_quantised_folder(const fs::path& folder) {
  const Description description = read_description(folder / kQuantisationFile);
  SourceModel model{.origin = folder.string(),
                    .spec = read_hugging_face_config(folder),
                    .head = read_hugging_face_head(folder)};
  check_family(folder, model.spec);
  if (description.sparse && !can_be_sparse(model.spec))
    throw BadData((folder / "config.json").string() +
                  ": sparse models have hidden and intermediate sizes of multiples of 8");
  model.quantised_to = description.precision;
  try {
    Reader(folder, model.spec, description).read(model);
  } catch (const std::system_error& error) {
    throw BadData(error.what());
  }
  return model;
}

namespace {

void copy_tokenizer(const TokenizerSource& source, const fs::path& folder) {
  if (source.what.starts_with(kWordPiecePrefix)) {
    fs::copy_file(source.what.substr(kWordPiecePrefix.size()), folder / "vocab.txt");
    const json config{{"tokenizer_class", "BertTokenizer"}, {"do_lower_case", source.lowercase}};
    write_file_atomic(folder / "tokenizer_config.json", config.dump(2) + "\n");
  } else if (!source.what.empty()) {
    for (const char* name : kTokenizerFiles)
      if (fs::exists(fs::path(source.what) / name))
        fs::copy_file(fs::path(source.what) / name, folder / name);
  }
}

}  // namespace

void write_quantised_folder(const fs::path& folder, const SourceModel& model, const json& calibration) {
  fs::create_directories(folder);
  for (const char* name : {"config.json", kWeightsFile, kQuantisationFile})
    if (fs::exists(folder / name))
      throw BadData((folder / name).string() + " exists already; choose another folder");
  write_weights(folder / kWeightsFile, model);
  write_file_atomic(folder / "config.json", hugging_face_config(model.spec, model.head));
  copy_tokenizer(model.tokenizer, folder);
  const bool sparse = model.products.begin()->second.sparse();
  const json description{{"version", kVersion},
                         {"format", to_string(*model.quantised_to)},
                         {"sparse", sparse},
                         {"source", model.origin},
                         {"calibration", calibration}};
  write_file_atomic(folder / kQuantisationFile, description.dump(2) + "\n");
}

}  // namespace podium
