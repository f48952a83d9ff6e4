// A TensorProto that holds one number.
#pragma once

#include <optional>
#include <string_view>

namespace podium::cli {

struct Tensor {
  bool ok = true;                // it is well-formed
  std::optional<double> number;  // where it is one number
};

Tensor read_tensor(std::string_view message);

}  // namespace podium::cli
