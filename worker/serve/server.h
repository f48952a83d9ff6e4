// podium-worker serve: models behind HTTP, from the first load to the last answer.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/net/http_server.h"
#include "worker/serve/model_registry.h"
#include "worker/serve/serve_api.h"

namespace podium {

struct ServerSettings {
  ServerOptions http;
  ServeOptions api;
  ServeRules rules;
  std::vector<ModelPlace> models;
  std::chrono::milliseconds grace{30'000};  // for the requests that SIGTERM finds
};

// Serves until SIGTERM or SIGINT, and returns when all accepted requests are answered, or at the end of the
// grace, with threads left behind (leave_process.h) where something is being loaded or computed; `load` must
// outlive these. SIGHUP loads the models' folders again. `on_listening` is told the address. Throws BadData
// or Failure where a model cannot be loaded at the start, and Failure(address_in_use) or std::runtime_error
// where the address cannot be listened on.
void serve(const ServerSettings& settings, LoadModel load,
           const std::function<void(const std::string& address)>& on_listening);

}  // namespace podium
