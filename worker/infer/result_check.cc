#include "worker/infer/result_check.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "common/base/check.h"
#include "worker/infer/text_inference.h"
#include "worker/tensor/downloaded.h"

namespace podium {
namespace {

std::vector<std::int32_t> values_of(const std::vector<std::int32_t>& all, int length, int sequence) {
  if (all.empty()) return {};
  const auto begin = all.begin() + std::ptrdiff_t{length} * sequence;
  return {begin, begin + length};
}

std::vector<float> rows_of(const Context& context, ConstTensorView all, std::int64_t rows, int sequence) {
  if (all.address == nullptr) return {};
  ConstTensorView own{all.address, all.dtype, all.shape.with(0, rows)};
  own.address = static_cast<const std::byte*>(all.address) + own.bytes() * static_cast<std::size_t>(sequence);
  return downloaded(context, own);
}

struct Squares {
  double differences = 0, expected = 0;

  void add(const std::vector<float>& found, const std::vector<float>& wanted) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      differences += std::pow(static_cast<double>(found.at(i)) - wanted[i], 2);
      expected += std::pow(static_cast<double>(wanted[i]), 2);
    }
  }
};

}  // namespace

SequenceResults results_of(const Context& context, const BertSession& session, int sequence) {
  return {rows_of(context, session.hidden(), session.shape().length, sequence),
          rows_of(context, session.pooled(), 1, sequence)};
}

SequenceResults compute_alone(Context& cpu, BertWeights& weights, const InferenceBatch& batch, int length,
                              int sequence) {
  BertSession session(cpu, weights, {.sequences = 1, .length = length});
  session.set_inputs(
      {.ids = values_of(batch.ids, length, sequence), .types = values_of(batch.types, length, sequence)});
  session.run();
  return results_of(cpu, session, 0);
}

double relative_distance(const SequenceResults& found, const SequenceResults& expected) {
  Squares squares;
  squares.add(found.hidden, expected.hidden);
  squares.add(found.pooled, expected.pooled);
  const double distance = std::sqrt(squares.differences / squares.expected);
  return std::isfinite(distance) ? distance : std::numeric_limits<double>::infinity();
}

double distance_tolerance(InferencePrecision precision) {
  switch (precision) {
    case InferencePrecision::fp32:
      return 1e-4;
    case InferencePrecision::fp16:
      return 2e-3;
    case InferencePrecision::bf16:
      return 2e-2;
    case InferencePrecision::int8:
    case InferencePrecision::fp8:
      return 5e-2;
  }
  PODIUM_CHECK(false, "a precision of inference");
}

}  // namespace podium
