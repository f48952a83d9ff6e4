#include "worker/infer/linear_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "common/base/check.h"
#include "worker/nn/two_of_four.h"
#include "worker/ops/quantised.h"

namespace podium {
namespace {

constexpr float kLargestInteger = 127.0F;  // -128 is left out: scales are symmetric

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Kept {
  std::vector<float> values;
  std::vector<std::uint8_t> positions;
};

Kept prune(std::span<const float> weight) {
  Kept kept;
  kept.values.reserve(weight.size() / 2);
  kept.positions.resize(weight.size() / 8);
  for (std::size_t group = 0; group < weight.size() / 4; ++group) {
    const std::array<int, 2> places = largest_two(&weight[4 * group]);
    for (const int place : places) kept.values.push_back(weight[4 * group + static_cast<std::size_t>(place)]);
    const int nibble = (places[0] | places[1] << 2) << (group % 2 * 4);
    kept.positions[group / 2] = static_cast<std::uint8_t>(kept.positions[group / 2] | nibble);
  }
  return kept;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<std::byte> converted(std::span<const float> values) {
  std::vector<T> result(values.size());
  std::ranges::transform(values, result.begin(), [](float v) { return from_float<T>(v); });
  return bytes_of(result);
}

std::vector<std::byte> quantised(std::span<const float> values, DType type,
                                 const std::vector<float>& row_scales) {
  const std::size_t columns = values.size() / row_scales.size();
  std::vector<float> scaled(values.begin(), values.end());
  for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] /= row_scales[i / columns];
  if (type == DType::e4m3) return converted<Float8E4M3>(scaled);
  std::vector<std::int8_t> integers(scaled.size());
  std::ranges::transform(scaled, integers.begin(), [](float v) {
    return static_cast<std::int8_t>(std::clamp(std::nearbyint(v), -kLargestInteger, kLargestInteger));
  });
  return bytes_of(integers);
}

std::vector<std::byte> in_type(std::span<const float> values, DType type) {
  if (type == DType::bf16) return converted<BFloat16>(values);
  if (type == DType::f16) return converted<Float16>(values);
  PODIUM_CHECK(type == DType::f32, "weights are f32, bf16, f16, i8 or e4m3");
  return converted<float>(values);
}

std::vector<float> row_scales_of(std::span<const float> values, std::int64_t rows, DType type) {
  std::vector<float> scales;
  const std::size_t columns = values.size() / index(rows);
  for (std::size_t row = 0; row < index(rows); ++row) {
    float largest = 0.0F;
    for (const float v : values.subspan(row * columns, columns)) largest = std::max(largest, std::abs(v));
    scales.push_back(scale_for(type, largest));
  }
  return scales;
}

template <class T>
void widen(const std::vector<std::byte>& bytes, std::vector<float>& values) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, &bytes[i * sizeof(T)], sizeof(T));
    values.push_back(static_cast<float>(to_float(value)));
  }
}

std::vector<float> kept_values(const LinearData& data) {
  std::vector<float> values;
  values.reserve(data.values.size() / size_of(data.type));
  if (data.type == DType::f32) widen<float>(data.values, values);
  if (data.type == DType::bf16) widen<BFloat16>(data.values, values);
  if (data.type == DType::f16) widen<Float16>(data.values, values);
  if (data.type == DType::i8) widen<std::int8_t>(data.values, values);
  if (data.type == DType::e4m3) widen<Float8E4M3>(data.values, values);
  if (data.weight_scales.empty()) return values;
  const std::size_t columns = values.size() / index(data.out);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= data.weight_scales[i / columns];
  return values;
}

}  // namespace

std::vector<float> LinearData::product_scales() const {
  std::vector<float> scales = weight_scales;
  for (float& scale : scales) scale *= input_scale;
  return scales;
}

float scale_for(DType type, float largest) {
  const float most = type == DType::i8 ? kLargestInteger : Float8E4M3::kLargest;
  return largest > 0.0F ? largest / most : 1.0F;
}

LinearData make_linear_data(std::span<const float> weight, std::span<const float> bias,
                            const LinearFormat& format) {
  LinearData data{.type = format.type,
                  .out = static_cast<std::int64_t>(bias.size()),
                  .in = static_cast<std::int64_t>(weight.size() / bias.size()),
                  .bias = {bias.begin(), bias.end()}};
  Kept kept;
  if (format.sparse) {
    PODIUM_CHECK(data.in % 8 == 0, "a sparse weight has a multiple of 8 inputs");
    kept = prune(weight);
    data.positions = kept.positions;
    weight = kept.values;
  }
  if (!ops::is_quantised(format.type)) {
    data.values = in_type(weight, format.type);
    return data;
  }
  data.input_scale = format.input_scale;
  data.weight_scales = row_scales_of(weight, data.out, format.type);
  data.values = quantised(weight, format.type, data.weight_scales);
  return data;
}

std::vector<float> dense_values(const LinearData& data) {
  const std::vector<float> kept = kept_values(data);
  if (!data.sparse()) return kept;
  std::vector<float> dense(2 * kept.size(), 0.0F);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::size_t group = i / 2;
    const int nibble = data.positions[group / 2] >> (group % 2 * 4);
    dense[4 * group + static_cast<std::size_t>(nibble >> (i % 2 * 2) & 3)] = kept[i];
  }
  return dense;
}

}  // namespace podium
