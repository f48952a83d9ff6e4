// The HTTP API of podium-worker serve (docs/serving.md). Texts become tokens, and results answers, on pools
// of threads; what lies between is the engine's. On the server's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "common/net/http_server.h"
#include "worker/serve/answering.h"
#include "worker/serve/endpoint.h"
#include "worker/serve/model_registry.h"
#include "worker/serve/request_account.h"

namespace podium {

struct ServeOptions {
  std::string token;                          // "": anyone may ask
  std::filesystem::path models_root;          // models may be loaded from within it; "": none
  std::chrono::milliseconds timeout{10'000};  // of a request that does not say
  bool check_host = true;                     // refuse_rebound_host()
};

class ServeApi {
 public:
  // The registry outlives it. Requests have a ServerRequest::client.
  ServeApi(boost::asio::any_io_executor executor, ModelRegistry& models, ServeOptions options);

  // The refusal of a request by its header alone.
  std::optional<ServerReply> refuse(const ServerRequest& head) const;
  boost::asio::awaitable<ServerReply> answer(ServerRequest request);

  // From now on the server is not ready, and accepts no request of a model.
  void drain() { draining_ = true; }
  bool is_draining() const { return draining_; }
  const RequestCounts& counts() const { return counts_; }

 private:
  boost::asio::awaitable<ServerReply> route(ServerRequest request, std::vector<std::string> path);
  boost::asio::awaitable<ServerReply> ask_model(ServerRequest request, const ModelRegistry::Entry& entry,
                                                const Endpoint& endpoint);
  boost::asio::awaitable<ServerReply> load_model(ServerRequest request, std::string name);
  ServerReply readiness(const std::string& request_id) const;
  ServerReply metrics() const;

  boost::asio::any_io_executor executor_;
  ModelRegistry& models_;
  ServeOptions options_;
  bool draining_ = false;
  RequestCounts counts_;
  boost::asio::thread_pool readers_{2}, writers_{1};
};

}  // namespace podium
