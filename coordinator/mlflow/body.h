// The body of a request of MLflow's client: a JSON object, or what keeps it from being one. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "common/base/error.h"

namespace podium::mlflow {

// `encoding`: its Content-Encoding, "" for none. An empty body is an object without fields.
Result<nlohmann::json> read_body(std::string_view body, std::string_view encoding);

}  // namespace podium::mlflow
