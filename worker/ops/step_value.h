// A value that is one number throughout a step and another in the next: a learning rate, a loss scale, the
// key of the dropout masks. The CPU takes `value`. A device's kernels take what lies at `device` in its
// memory at the moment when they run, so that a step that was recorded once (a CUDA graph) can be replayed
// after the numbers there have been replaced; without that address they too take `value`.
#pragma once

namespace podium::ops {

template <class T>
struct StepValue {
  T value{};
  const T* device = nullptr;

  StepValue() = default;
  StepValue(const T& value_in, const T* device_in = nullptr) : value(value_in), device(device_in) {}
};

}  // namespace podium::ops
