// The one address of all services: hands a request to the replica of its service that has the fewest under
// way, over kept connections, and looks after the replicas once a second. It lives on a thread of its own,
// for requests of models must not delay the scheduler's. docs/serving.md has the paths.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/serving/replica.h"

namespace podium {

struct GatewayOptions {
  HostPort listen{"127.0.0.1", 0};  // port 0: any free one
  std::vector<std::string> tokens;  // one of which a request must carry; none: anyone may ask
  bool check_host = true;           // refuse_rebound_host()
};

class Gateway {
 public:
  // `on_health` is called on the gateway's thread, once a second. Throws as HttpServer does.
  Gateway(GatewayOptions options, std::function<void(const ReplicasHealth&)> on_health);
  ~Gateway();  // as stop(0)

  std::string address() const;  // "http://127.0.0.1:7071"

  // From any thread. All replicas that may be asked; those of before that are missing get no more requests,
  // and finish those that they have. `services` have names of which a request is not refused as unknown.
  void set_replicas(std::vector<ReplicaPlace> replicas, std::vector<std::string> services);

  // Requests for services, by name and status of the answer. From any thread.
  using Requests = std::map<std::pair<std::string, int>, std::uint64_t>;
  Requests requests() const;

  // Accepts no more requests, lets those under way finish within `grace`, and returns when the thread has
  // ended.
  void stop(std::chrono::milliseconds grace);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace podium
