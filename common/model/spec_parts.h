// The codecs of a spec's sections, for spec.cc alone.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "common/model/spec.h"

namespace podium {

// "200 steps"; reads a number, too. Both readers throw std::invalid_argument naming the field.
std::string steps_text(std::int64_t steps);
std::int64_t steps_from(const nlohmann::json& value, const char* field);
Duration duration_from(const nlohmann::json& value, const char* field);

// Keys of to_wire_json() in place of model.init.
inline constexpr char kInitFrom[] = "init_from", kInitXxh3[] = "init_xxh3";

// model.init; null where the weights are drawn. And its reader, from the section around it.
nlohmann::json init_json(const ModelSpec& model);
void read_init(const nlohmann::json& in, ModelSpec& model);

nlohmann::json model_json(const ModelSpec& model);
ModelSpec model_from(const nlohmann::json& in);
nlohmann::json data_json(const DataSpec& data);
DataSpec data_from(const nlohmann::json& in);
nlohmann::json training_json(const TrainingSpec& training);
TrainingSpec training_from(const nlohmann::json& in);

}  // namespace podium
