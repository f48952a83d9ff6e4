// Peak dense throughput of devices by their data sheets: the denominator of MFU. Pure.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "common/model/spec.h"

namespace podium {

struct DevicePeak {
  std::string_view model;    // how NVML's name of the device begins or what it holds
  std::string_view but_not;  // "" where nothing
  double tflops;             // of 16-bit products, summed up in 32 bits
  bool bf16;
  double tflops_fp8;  // 0: has none
};

// NVIDIA's data sheets of H100 and H200 (SXM), A100 and V100 (SXM); without sparsity.
inline constexpr std::array kDevicePeaks{
    DevicePeak{"H200", "NVL", 989, true, 1979}, DevicePeak{"H100 80GB HBM3", "", 989, true, 1979},
    DevicePeak{"A100", "", 312, true, 0}, DevicePeak{"V100-SXM", "", 125, false, 0}};

// FLOP/s. Nothing for a device or a precision that is not in the table.
inline std::optional<double> peak_flops(std::string_view device, Precision precision, bool fp8) {
  for (const DevicePeak& peak : kDevicePeaks) {
    if (device.find(peak.model) == std::string_view::npos) continue;
    if (!peak.but_not.empty() && device.find(peak.but_not) != std::string_view::npos) continue;
    if (precision == Precision::fp32 || (precision == Precision::bf16 && !peak.bf16)) return std::nullopt;
    if (fp8 && peak.tflops_fp8 == 0) return std::nullopt;
    return (fp8 ? peak.tflops_fp8 : peak.tflops) * 1e12;
  }
  return std::nullopt;
}

}  // namespace podium
