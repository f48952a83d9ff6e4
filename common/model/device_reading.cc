#include "common/model/device_reading.h"

namespace podium {

using nlohmann::json;

json to_json(const DeviceReading& reading) {
  json out{{"device", reading.device}};
  for (const ReadingField& field : kReadingFields)
    if (const auto& value = reading.*field.value) out[std::string(field.name)] = *value;
  return out;
}

DeviceReading device_reading_from_json(const json& in) {
  DeviceReading reading;
  reading.device = in.at("device");
  for (const ReadingField& field : kReadingFields)
    if (const auto value = in.find(std::string(field.name)); value != in.end())
      reading.*field.value = value->get<double>();
  return reading;
}

}  // namespace podium
