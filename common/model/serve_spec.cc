#include "common/model/serve_spec.h"

#include <nlohmann/json.hpp>

#include "common/base/units.h"
#include "common/model/spec_parts.h"

namespace podium {

using nlohmann::json;

json serve_json(const ServeSpec& spec) {
  json out{{"max_batch_tokens", spec.max_batch_tokens},
           {"max_queue", spec.max_queue},
           {"max_texts", spec.max_texts},
           {"max_positions", spec.max_positions},
           {"timeout", format_duration(spec.timeout)},
           {"max_wait", format_duration(spec.max_wait)}};
  if (!spec.precision.empty()) out["precision"] = spec.precision;
  return out;
}

json replicas_json(const ReplicasSpec& spec) {
  return {{"min", spec.min}, {"max", spec.max}, {"queue", format_duration(spec.queue)}};
}

ServeSpec serve_spec_from_json(const json& serve, const json& replicas) {
  ServeSpec spec;
  const auto duration = [](const json& in, const char* key, const char* field, Duration standard) {
    return in.contains(key) ? duration_from(in.at(key), field) : standard;
  };
  spec.precision = serve.value("precision", spec.precision);
  spec.max_batch_tokens = serve.value("max_batch_tokens", spec.max_batch_tokens);
  spec.max_queue = serve.value("max_queue", spec.max_queue);
  spec.max_texts = serve.value("max_texts", spec.max_texts);
  spec.max_positions = serve.value("max_positions", spec.max_positions);
  spec.timeout = duration(serve, "timeout", "serve.timeout", spec.timeout);
  spec.max_wait = duration(serve, "max_wait", "serve.max_wait", spec.max_wait);
  spec.replicas.min = replicas.value("min", spec.replicas.min);
  spec.replicas.max = replicas.value("max", spec.replicas.max);
  spec.replicas.queue = duration(replicas, "queue", "replicas.queue", spec.replicas.queue);
  return spec;
}

}  // namespace podium
