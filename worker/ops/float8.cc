#include "worker/ops/float8.h"

#include "worker/ops/backend.h"
#include "worker/ops/float8_weight.h"
#include "worker/ops/product_work.h"

namespace podium::ops {
namespace {

Float8Matrix renewed_copies(Context& context, LinearWeight& weight) {
  if (!weight.float8) {
    weight.float8 = std::make_unique<Float8Weight>(weight.master.shape, context.memory.device);
    if (context.profiler != nullptr) context.profiler->add_memory("weight copies", 2 * weight.master.size());
  }
  auto& copies = static_cast<Float8Weight&>(*weight.float8);
  if (copies.generation != weight.generation) to_float8(context, weight.master, copies.matrix());
  copies.generation = weight.generation;
  return copies.matrix();
}

void check_extents(const LinearWeight& weight) {
  PODIUM_CHECK(weight.master.shape[0] % kFloat8Multiple == 0 && weight.master.shape[1] % kFloat8Multiple == 0,
               "an FP8 layer has a multiple of 16 inputs and outputs, not " + to_string(weight.master.shape));
}

void check_result(const TensorView& result, const Shape& shape, const char* name) {
  PODIUM_CHECK(result.dtype == DType::bf16 || result.dtype == DType::f16,
               std::string(name) + " of an FP8 layer has 16 bits");
  check_tensor(result, result.dtype, shape, name);
}

}  // namespace

Float8Matrix allocate_float8(Arena& arena, DType type, const Shape& shape, Float8Layout layout) {
  Float8Matrix matrix;
  if (layout != Float8Layout::columns) matrix.by_rows = arena.allocate(type, shape);
  if (layout != Float8Layout::rows)
    matrix.by_columns = arena.allocate(type, Shape{shape[1], filled_up(shape[0])});
  matrix.scale = arena.allocate(DType::f32, Shape{1});
  return matrix;
}

void to_float8(Context& context, ConstTensorView x, const Float8Matrix& out) {
  const std::int64_t rows = x.shape[0], columns = x.shape[1];
  PODIUM_CHECK(out.type() == DType::e4m3 || out.type() == DType::e5m2, "FP8 is e4m3 or e5m2");
  PODIUM_CHECK(columns % kFloat8Multiple == 0, "a matrix in FP8 has a multiple of 16 columns");
  if (out.by_rows.address != nullptr) check_tensor(out.by_rows, out.type(), x.shape, "FP8 rows");
  if (out.by_columns.address != nullptr)
    check_tensor(out.by_columns, out.type(), Shape{columns, filled_up(rows)}, "FP8 columns");
  check_tensor(out.scale, DType::f32, Shape{1}, "scale");
  const double bytes = 2 * bytes_of(x) + bytes_of(out.by_rows, out.by_columns);
  const ProfileScope scope(context, "to_float8", {.bytes = bytes, .shape = {rows, columns}});
  backend(context).to_float8(context, x, out);
}

void float8_linear_prepare(Context& context, LinearWeight& weight, ConstTensorView bias, DType type) {
  check_extents(weight);
  renewed_copies(context, weight);
  if (const auto prepare = backend(context).float8_linear_prepare) prepare(context, weight, bias, type);
}

void float8_linear_forward(Context& context, const Float8Matrix& x, LinearWeight& weight,
                           ConstTensorView bias, TensorView y) {
  const std::int64_t rows = y.shape[0], out = weight.master.shape[0], in = weight.master.shape[1];
  check_extents(weight);
  check_tensor(x.by_rows, DType::e4m3, Shape{rows, in}, "x");
  check_result(y, Shape{rows, out}, "y");
  if (bias.address != nullptr) check_tensor(bias, DType::f32, Shape{out}, "bias");
  const Float8Matrix w = renewed_copies(context, weight);
  const ProfileScope scope(context, "float8_linear_forward",
                           product_work(rows, out, in, bytes_of(x.by_rows, w.by_rows, y)));
  backend(context).float8_linear_forward(context, x, weight, bias, y);
}

void float8_linear_backward_input(Context& context, const Float8Matrix& dy, LinearWeight& weight,
                                  TensorView dx, const ProductOptions& options) {
  const std::int64_t rows = dx.shape[0], out = weight.master.shape[0], in = weight.master.shape[1];
  check_extents(weight);
  check_tensor(dy.by_rows, DType::e5m2, Shape{rows, out}, "dy");
  check_result(dx, Shape{rows, in}, "dx");
  check_product_options(options, dx);
  const Float8Matrix w = renewed_copies(context, weight);
  const ProfileScope scope(context, "float8_linear_backward_input",
                           product_work(rows, in, out, bytes_of(dy.by_rows, w.by_columns, dx)));
  backend(context).float8_linear_backward_input(context, dy, weight, dx, options);
}

void float8_linear_backward_weight(Context& context, const Float8Matrix& x, const Float8Matrix& dy,
                                   TensorView dw) {
  const std::int64_t out = dw.shape[0], in = dw.shape[1], terms = x.by_columns.shape[1];
  check_tensor(x.by_columns, DType::e4m3, Shape{in, terms}, "x");
  check_tensor(dy.by_columns, DType::e5m2, Shape{out, terms}, "dy");
  check_tensor(dw, DType::f32, Shape{out, in}, "dw");
  const ProfileScope scope(context, "float8_linear_backward_weight",
                           product_work(out, in, terms, bytes_of(x.by_columns, dy.by_columns, dw)));
  backend(context).float8_linear_backward_weight(context, x, dy, dw);
}

void add_column_sums(Context& context, ConstTensorView x, TensorView sums) {
  check_tensor(sums, DType::f32, Shape{x.shape[1]}, "sums");
  const ProfileScope scope(context, "add_column_sums", {.bytes = bytes_of(x)});
  backend(context).add_column_sums(context, x, sums);
}

}  // namespace podium::ops
