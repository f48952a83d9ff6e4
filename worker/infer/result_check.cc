#include "worker/infer/result_check.h"

#include <cmath>
#include <limits>

#include "common/base/check.h"
#include "worker/infer/text_inference.h"
#include "worker/tensor/downloaded.h"

namespace podium {
namespace {

std::vector<std::int32_t> first(const std::vector<std::int32_t>& values, int length) {
  if (values.empty()) return {};
  return {values.begin(), values.begin() + length};
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

FirstResults first_results(const Context& context, const BertSession& session) {
  FirstResults results{downloaded(context, session.hidden()), downloaded(context, session.pooled())};
  const auto sequences = static_cast<std::size_t>(session.shape().sequences);
  results.hidden.resize(results.hidden.size() / sequences);
  results.pooled.resize(results.pooled.size() / sequences);
  return results;
}

FirstResults compute_first(Context& cpu, BertWeights& weights, const InferenceBatch& batch, int length) {
  BertSession session(cpu, weights, {.sequences = 1, .length = length});
  session.set_inputs({.ids = first(batch.ids, length), .types = first(batch.types, length)});
  session.run();
  return first_results(cpu, session);
}

double relative_distance(const FirstResults& found, const FirstResults& expected) {
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
