// The keys that only a training has, those of a program of the user's own, and those of a service.
#pragma once

#include <array>
#include <nlohmann/json.hpp>

namespace podium {

inline constexpr std::array kOfTrainings{"model",      "data",     "training", "parallel",
                                         "checkpoint", "evaluate", "mlperf"};
inline constexpr std::array kOfPrograms{"workdir",  "env",     "processes", "parameters", "code",
                                        "launcher", "metrics", "container", "inputs",     "outputs"};
inline constexpr std::array kOfServices{"serve", "replicas"};

// Whether the document has task: serve; or another task beside the other keys of services.
inline bool is_service(const nlohmann::json& document) {
  return document.contains("task") &&
         (document["task"] == "serve" || document.contains("serve") || document.contains("replicas"));
}

}  // namespace podium
