#include "worker/tensor/dtype.h"

#include "common/base/check.h"

namespace podium {

std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::e4m3:
    case DType::e5m2:
    case DType::i8:
    case DType::u8:
      return 1;
    case DType::bf16:
    case DType::f16:
      return 2;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::i64:
      return 8;
  }
  PODIUM_CHECK(false, "unknown element type");
}

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::bf16:
      return "bf16";
    case DType::f16:
      return "f16";
    case DType::e4m3:
      return "e4m3";
    case DType::e5m2:
      return "e5m2";
    case DType::i32:
      return "i32";
    case DType::i64:
      return "i64";
    case DType::i8:
      return "i8";
    case DType::u8:
      return "u8";
  }
  PODIUM_CHECK(false, "unknown element type");
}

}  // namespace podium
