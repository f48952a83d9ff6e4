#include "worker/ops/linear.h"

#include "worker/ops/backend.h"
#include "worker/ops/product_work.h"

namespace podium::ops {
namespace {

// y or dy.
void check_output(const Context& context, const ConstTensorView& tensor, std::int64_t rows, std::int64_t out,
                  const char* name) {
  const bool padded = backend(context).pads_columns && tensor.dtype != DType::f32 && tensor.shape[1] > out;
  check_tensor(tensor, tensor.dtype, Shape{rows, padded ? tensor.shape[1] : out}, name);
}

}  // namespace

void narrow_weights(Context& context, ConstTensorView from, TensorView to) {
  PODIUM_CHECK(backend(context).narrow_weights != nullptr && from.dtype == DType::f32,
               "a device narrows f32 weights");
  check_tensor(to, to.dtype, from.shape, "to");
  const ProfileScope scope(context, "narrow_weights", {.bytes = bytes_of(from, to)});
  backend(context).narrow_weights(context, from, to);
}

void linear_prepare(Context& context, LinearWeight& weight, ConstTensorView bias, DType type,
                    std::int64_t columns) {
  PODIUM_CHECK(columns >= weight.master.shape[0], "a product has a column for each row of its weight");
  if (const auto prepare = backend(context).linear_prepare) prepare(context, weight, bias, type, columns);
}

void linear_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                    TensorView y) {
  const std::int64_t out = weight.master.shape[0], in = weight.master.shape[1];
  check_tensor(x, y.dtype, Shape{y.shape[0], in}, "x");
  check_output(context, y, x.shape[0], out, "y");
  if (bias.address != nullptr) check_tensor(bias, DType::f32, Shape{out}, "bias");
  const ProfileScope scope(context, "linear_forward", product_work(x.shape[0], out, in, bytes_of(x, y)));
  backend(context).linear_forward(context, x, weight, bias, y);
}

void linear_gelu_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                         GeluKind kind, TensorView saved, TensorView y) {
  const std::int64_t out = weight.master.shape[0], in = weight.master.shape[1];
  check_tensor(x, y.dtype, Shape{y.shape[0], in}, "x");
  check_tensor(y, y.dtype, Shape{x.shape[0], out}, "y");
  check_tensor(saved, y.dtype, y.shape, "saved");
  if (bias.address != nullptr) check_tensor(bias, DType::f32, Shape{out}, "bias");
  if (const auto forward = backend(context).linear_gelu_forward) {
    const ProfileScope scope(context, "linear_gelu_forward",
                             product_work(x.shape[0], out, in, bytes_of(x, saved, y)));
    return forward(context, x, weight, bias, kind, saved, y);
  }
  linear_forward(context, x, weight, bias, saved);
  gelu_forward(context, saved, y, kind);
}

void linear_backward_input(Context& context, ConstTensorView dy, LinearWeight& weight, TensorView dx,
                           const ProductOptions& options) {
  const std::int64_t out = weight.master.shape[0], in = weight.master.shape[1];
  check_output(context, dy, dx.shape[0], out, "dy");
  PODIUM_CHECK(dy.dtype == dx.dtype, "dx and dy share one type");
  check_tensor(dx, dx.dtype, Shape{dy.shape[0], in}, "dx");
  check_product_options(options, dx);
  const ProfileScope scope(context, "linear_backward_input",
                           product_work(dy.shape[0], in, out, bytes_of(dy, dx)));
  backend(context).linear_backward_input(context, dy, weight, dx, options);
}

void linear_backward_weight(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dw,
                            TensorView db) {
  const std::int64_t out = dw.shape[0], in = dw.shape[1];
  check_tensor(x, dy.dtype, Shape{dy.shape[0], in}, "x");
  check_output(context, dy, x.shape[0], out, "dy");
  check_tensor(dw, DType::f32, Shape{out, in}, "dw");
  if (db.address != nullptr) check_tensor(db, DType::f32, Shape{out}, "db");
  const ProfileScope scope(context, "linear_backward_weight",
                           product_work(out, in, x.shape[0], bytes_of(x, dy, dw)));
  backend(context).linear_backward_weight(context, x, dy, dw, db);
}

}  // namespace podium::ops
