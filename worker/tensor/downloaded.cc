#include "worker/tensor/downloaded.h"

#include <algorithm>

namespace podium {
namespace {

template <class T>
std::vector<float> downloaded_as(const Context& context, const ConstTensorView& tensor) {
  std::vector<T> values(static_cast<std::size_t>(tensor.size()));
  context.memory.download(values.data(), tensor.address, tensor.bytes());
  std::vector<float> wide(values.size());
  std::ranges::transform(values, wide.begin(), [](T v) { return to_float(v); });
  return wide;
}

}  // namespace

std::vector<float> downloaded(const Context& context, const ConstTensorView& tensor) {
  if (tensor.address == nullptr) return {};
  if (tensor.dtype == DType::bf16) return downloaded_as<BFloat16>(context, tensor);
  if (tensor.dtype == DType::f16) return downloaded_as<Float16>(context, tensor);
  return downloaded_as<float>(context, tensor);
}

}  // namespace podium
