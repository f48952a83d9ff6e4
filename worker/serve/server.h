// podium-worker serve: models behind HTTP, from the first load to the last answer.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
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
  // Says when to stop, in place of SIGTERM and SIGINT, which another thread takes; may be null.
  const std::atomic<bool>* stop = nullptr;
};

// What the server tells as it goes, on its thread.
struct ServerEvents {
  std::function<void(const std::string& address)> listening;
  std::function<void()> ready = [] {};  // every model can answer
  // At each multiple of 10 s of the system's clock from then on: what the 10 s before it were, by model.
  std::function<void(const std::map<std::string, LoadFigures>&)> load = nullptr;
};

// Serves until SIGTERM or SIGINT, and returns when all accepted requests are answered, or at the end of the
// grace, with threads left behind (leave_process.h) where something is being loaded or computed; `load` must
// outlive these. SIGHUP loads the models' folders again. Throws BadData
// or Failure where a model cannot be loaded at the start, and Failure(address_in_use) or std::runtime_error
// where the address cannot be listened on.
void serve(const ServerSettings& settings, LoadModel load, const ServerEvents& events);

}  // namespace podium
