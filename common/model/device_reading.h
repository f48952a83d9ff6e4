// The measurements of a device at one moment, which its agent reports beside the node's description. They
// serve monitoring, not decisions, so they are not part of the coordinator's state. A quantity that the
// device does not measure is absent.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace podium {

struct DeviceReading {
  int device = 0;                         // its index on the node
  std::optional<double> utilisation;      // fraction of the time in which a kernel ran, 0 to 1
  std::optional<double> memory_used;      // bytes, with what the driver reserves
  std::optional<double> power;            // watts
  std::optional<double> temperature;      // degrees Celsius
  std::optional<double> ecc_corrected;    // memory errors since the driver was loaded
  std::optional<double> ecc_uncorrected;  // likewise
  std::optional<double> xid_errors;       // that the agent has seen since it started
  std::optional<double> last_xid;         // the number of the newest of them

  bool operator==(const DeviceReading&) const = default;
};

// The only place with the names of a measured quantity: `name` in JSON, podium_device_<metric> for
// Prometheus.
struct ReadingField {
  std::string_view name;
  std::string_view metric;
  std::string_view help;
  std::optional<double> DeviceReading::*value;
};

inline constexpr std::array<ReadingField, 8> kReadingFields{{
    {"utilisation", "utilisation_ratio", "Fraction of the time in which the device ran a kernel.",
     &DeviceReading::utilisation},
    {"memory_used", "memory_used_bytes", "Device memory in use, with what the driver reserves.",
     &DeviceReading::memory_used},
    {"power", "power_watts", "What the device draws.", &DeviceReading::power},
    {"temperature", "temperature_celsius", "The device's temperature.", &DeviceReading::temperature},
    {"ecc_corrected", "ecc_corrected_errors", "Corrected memory errors since the driver was loaded.",
     &DeviceReading::ecc_corrected},
    {"ecc_uncorrected", "ecc_uncorrected_errors", "Uncorrected memory errors since the driver was loaded.",
     &DeviceReading::ecc_uncorrected},
    {"xid_errors", "xid_errors", "XID errors that the node's agent has seen since it started.",
     &DeviceReading::xid_errors},
    {"last_xid", "last_xid", "The number of the newest XID error; absent: none seen.",
     &DeviceReading::last_xid},
}};

nlohmann::json to_json(const DeviceReading& reading);
DeviceReading device_reading_from_json(const nlohmann::json& json);

}  // namespace podium
