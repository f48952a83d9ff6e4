#include "worker/commands/gradients_batch.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "common/model/family.h"
#include "worker/formats/safetensors.h"
#include "worker/input/bad_data.h"
#include "worker/nn/families/family.h"
#include "worker/nn/pretraining_head.h"

namespace podium {
namespace {

constexpr std::int64_t kIgnored = -100;

class BatchFile {
 public:
  explicit BatchFile(const std::filesystem::path& path) : file_(path) {}

  // The tensor's values, all within [lowest, highest] or kIgnored where that may stand; nothing where there
  // is no such tensor.
  struct Range {
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    bool may_ignore = false;
  };
  std::optional<std::vector<std::int64_t>> find(const std::string& name,
                                                const std::vector<std::int64_t>& shape,
                                                const Range& range) const {
    const auto found = file_.tensors().find(name);
    if (found == file_.tensors().end()) return std::nullopt;
    if (found->second.shape != shape)
      fail(name,
           fmt::format("is [{}], not [{}]", fmt::join(found->second.shape, ", "), fmt::join(shape, ", ")));
    std::vector<std::int64_t> values = integers(name, found->second);
    for (const std::int64_t value : values) {
      if ((value < range.lowest || value > range.highest) && !(range.may_ignore && value == kIgnored))
        fail(name, fmt::format("holds {}, which is not within {} to {}", value, range.lowest, range.highest));
    }
    return values;
  }

  // [sequences, length] of input_ids.
  std::vector<std::int64_t> extents() const {
    const auto found = file_.tensors().find("input_ids");
    if (found == file_.tensors().end()) fail("input_ids", "is missing");
    const auto& shape = found->second.shape;
    if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1) fail("input_ids", "must be [sequences, length]");
    return shape;
  }

  [[noreturn]] void fail(const std::string& name, const std::string& what) const {
    throw BadData(fmt::format("{}: tensor {} {}", file_.path().string(), name, what));
  }

 private:
  std::vector<std::int64_t> integers(const std::string& name, const SafetensorsTensor& tensor) const {
    const std::string& dtype = tensor.dtype;
    if (dtype == "I64") return read_as<std::int64_t>(name, tensor);
    if (dtype == "I32") return read_as<std::int32_t>(name, tensor);
    if (dtype == "I16") return read_as<std::int16_t>(name, tensor);
    if (dtype == "I8") return read_as<std::int8_t>(name, tensor);
    if (dtype == "U8" || dtype == "BOOL") return read_as<std::uint8_t>(name, tensor);
    fail(name, "is of type " + dtype + "; integers are needed, such as I64");
  }

  template <class T>
  std::vector<std::int64_t> read_as(const std::string& name, const SafetensorsTensor& tensor) const {
    std::vector<T> values((tensor.end - tensor.begin) / sizeof(T));
    file_.read(name, tensor.dtype, tensor.shape, std::as_writable_bytes(std::span(values)));
    return {values.begin(), values.end()};
  }

  SafetensorsFile file_;
};

std::vector<std::int32_t> narrow(const std::vector<std::int64_t>& values) {
  std::vector<std::int32_t> narrowed;
  narrowed.reserve(values.size());
  for (const std::int64_t value : values) narrowed.push_back(static_cast<std::int32_t>(value));
  return narrowed;
}

// How far each row of a [sequences, length] mask of ones and zeros is one.
std::vector<std::int32_t> valid_lengths(const BatchFile& file, const std::vector<std::int64_t>& mask,
                                        std::ptrdiff_t length) {
  std::vector<std::int32_t> lengths;
  for (auto row = mask.begin(); row != mask.end(); row += length) {
    const auto end = std::find(row, row + length, 0);
    if (end == row || std::find(end, row + length, 1) != row + length)
      file.fail("attention_mask",
                fmt::format("is not ones up to a length and zeros beyond in sequence {}", lengths.size()));
    lengths.push_back(static_cast<std::int32_t>(end - row));
  }
  return lengths;
}

// Position t of a sequence is scored against labels[t + shift].
void add_labels(MicroBatch& batch, const std::vector<std::int64_t>& labels, int shift) {
  Targets& targets = batch.targets[kLanguageTerm];
  for (int s = 0; s < batch.sequences; ++s) {
    for (int t = 0; t + shift < batch.length; ++t) {
      const std::int64_t label = labels[static_cast<std::size_t>(s * batch.length + t + shift)];
      if (label == kIgnored) continue;
      targets.positions.push_back(s * batch.length + t);
      targets.labels.push_back(static_cast<std::int32_t>(label));
    }
  }
}

MicroBatch read(const std::filesystem::path& path, const ModelSpec& spec) {
  const BatchFile file(path);
  const std::vector<std::int64_t> shape = file.extents();
  if (shape[1] > spec.max_positions)
    file.fail("input_ids", fmt::format("has {} positions; the model has {}", shape[1], spec.max_positions));
  MicroBatch batch;
  batch.sequences = static_cast<int>(shape[0]);
  batch.length = static_cast<int>(shape[1]);
  batch.input_ids = narrow(*file.find("input_ids", shape, {0, spec.vocab - 1}));
  const auto all = static_cast<std::size_t>(shape[0] * shape[1]);
  batch.valid_lengths = valid_lengths(
      file, file.find("attention_mask", shape, {0, 1}).value_or(std::vector(all, std::int64_t{1})),
      static_cast<std::ptrdiff_t>(shape[1]));
  const auto labels = file.find("labels", shape, {0, spec.vocab - 1, true});
  if (!labels) file.fail("labels", "is missing");
  const FamilyTraits& family = traits_of(spec.family);
  add_labels(batch, *labels, family.masked ? 0 : 1);
  if (batch.targets[kLanguageTerm].labels.empty()) file.fail("labels", "has nothing to score");
  if (!family_of(spec).names.type.empty())
    batch.token_types = narrow(
        file.find("token_type_ids", shape, {0, kTokenTypes - 1}).value_or(std::vector(all, std::int64_t{0})));
  if (family.sentence_classes == 0) return batch;
  if (const auto next = file.find("next_sentence_label", {shape[0]}, {0, family.sentence_classes - 1}))
    batch.targets[kNextSentenceTerm] = sequence_targets(narrow(*next), batch.length);
  return batch;
}

}  // namespace

MicroBatch read_gradients_batch(const std::filesystem::path& path, const ModelSpec& spec) try {
  return read(path, spec);
} catch (const SafetensorsError& error) {
  throw BadData(error.what());
}

}  // namespace podium
