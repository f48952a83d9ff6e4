// Dense row-major tensors: `Tensor` owns aligned memory of the host or of a device, `TensorView` and
// `ConstTensorView` borrow it. A view says where the data lives, what it is and its shape; typed access
// checks the element type, and only the host's memory may be accessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/base/check.h"
#include "worker/tensor/device.h"
#include "worker/tensor/dtype.h"
#include "worker/tensor/shape.h"

namespace podium {

inline constexpr std::size_t kAlignment = 64;         // of every tensor: one cache line, one AVX-512 register
inline constexpr std::size_t kDeviceAlignment = 256;  // of a device's tensors: what matrix libraries hope for

struct ConstTensorView {
  const void* address = nullptr;
  DType dtype = DType::f32;
  Shape shape;

  std::int64_t size() const { return shape.size(); }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * size_of(dtype); }

  template <class T>
  const T* data() const {
    PODIUM_CHECK(dtype == dtype_of<T>, "tensor read as another element type than its own");
    return static_cast<const T*>(address);
  }
  template <class T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<std::size_t>(size())};
  }
};

struct TensorView {
  void* address = nullptr;
  DType dtype = DType::f32;
  Shape shape;

  operator ConstTensorView() const { return {address, dtype, shape}; }
  std::int64_t size() const { return shape.size(); }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * size_of(dtype); }

  template <class T>
  T* data() const {
    PODIUM_CHECK(dtype == dtype_of<T>, "tensor read as another element type than its own");
    return static_cast<T*>(address);
  }
  template <class T>
  std::span<T> values() const {
    return {data<T>(), static_cast<std::size_t>(size())};
  }
};

// Views of plain f32 memory, for parameters and gradients.
inline TensorView view_of(std::span<float> values, const Shape& shape) {
  PODIUM_CHECK(static_cast<std::int64_t>(values.size()) == shape.size(),
               "a view must cover its memory exactly");
  return {values.data(), DType::f32, shape};
}
inline ConstTensorView view_of(std::span<const float> values, const Shape& shape) {
  PODIUM_CHECK(static_cast<std::int64_t>(values.size()) == shape.size(),
               "a view must cover its memory exactly");
  return {values.data(), DType::f32, shape};
}

// Aligned memory of a device, or without one of the host, where large blocks ask for huge pages, so that
// sweeping over them does not stall on address translation.
struct AlignedDelete {
  Device* device = nullptr;

  void operator()(std::byte* memory) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;
// The host's is zero; a device's holds anything.
AlignedBytes allocate_aligned(std::size_t bytes, Device* device = nullptr);

class Tensor {
 public:
  Tensor() = default;
  // Zero in host memory; a device's holds anything.
  Tensor(DType dtype, const Shape& shape, Device* device = nullptr);

  TensorView view() { return {memory_.get(), dtype_, shape_}; }
  ConstTensorView view() const { return {memory_.get(), dtype_, shape_}; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }

 private:
  AlignedBytes memory_;
  DType dtype_ = DType::f32;
  Shape shape_;
};

}  // namespace podium
