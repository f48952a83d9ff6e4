// A service: the limits of each of its replicas, and how many there are.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace podium {

struct ReplicasSpec {
  int min = 1;
  int max = 1;
  Duration queue =
      std::chrono::milliseconds(20);  // 90th percentile of the time in the queue; more asks for one more

  bool operator==(const ReplicasSpec&) const = default;
};

struct ServeSpec {
  std::string precision;        // "": a quantised model's own; else fp32 on the CPU and fp16 on a GPU
  int max_batch_tokens = 4096;  // computed together
  int max_queue = 512;          // sequences that wait
  int max_texts = 8;            // generated together
  int max_positions = 1024;     // tokens of a prompt and its text together
  Duration timeout = std::chrono::seconds(10);       // of a request that says none
  Duration max_wait = std::chrono::milliseconds(2);  // of a busy model, for a batch to fill
  ReplicasSpec replicas;

  bool operator==(const ServeSpec&) const = default;
};

inline constexpr std::string_view kServeTask = "serve";  // the top-level key "task"

// The keys "serve" and "replicas" of a spec. What is absent is as above.
nlohmann::json serve_json(const ServeSpec& spec);
nlohmann::json replicas_json(const ReplicasSpec& spec);
ServeSpec serve_spec_from_json(const nlohmann::json& serve, const nlohmann::json& replicas);

}  // namespace podium
