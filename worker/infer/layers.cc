#include "worker/infer/layers.h"

#include <utility>

namespace podium {

Tensor place(const Context& context, DType type, const Shape& shape, const void* values) {
  Tensor tensor(type, shape, context.memory.device);
  context.memory.upload(tensor.view().address, values, tensor.view().bytes());
  return tensor;
}

Tensor place(const Context& context, const FullTensor& tensor) {
  Shape shape{tensor.shape[0]};
  if (tensor.shape.size() == 2) shape = Shape{tensor.shape[0], tensor.shape[1]};
  return place(context, DType::f32, shape, tensor.values.data());
}

DenseLayer place(const Context& context, const std::string& name, const LinearData& data) {
  DenseLayer layer{.name = name, .input_scale = data.input_scale};
  const std::int64_t columns = data.sparse() ? data.in / 2 : data.in;
  layer.values = place(context, data.type, Shape{data.out, columns}, data.values.data());
  layer.weight.values = std::as_const(layer.values).view();
  if (!data.bias.empty()) {
    layer.bias = place(context, DType::f32, Shape{data.out}, data.bias.data());
    layer.weight.bias = std::as_const(layer.bias).view();
  }
  if (data.sparse()) {
    layer.positions = place(context, DType::u8, Shape{data.out, data.in / 8}, data.positions.data());
    layer.weight.positions = std::as_const(layer.positions).view();
  }
  if (const std::vector<float> scales = data.product_scales(); !scales.empty()) {
    layer.scales = place(context, DType::f32, Shape{data.out}, scales.data());
    layer.weight.scales = std::as_const(layer.scales).view();
  }
  return layer;
}

}  // namespace podium
