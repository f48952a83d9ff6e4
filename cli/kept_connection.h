// Many requests over one connection, one after the other, for commands that are no coroutines. What it gives
// and throws is as Client has it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/client.h"
#include "common/net/http_client.h"

namespace podium::cli {

// SIGINT or SIGTERM came. The connection can be used on, to leave things in order. Before the first request
// they end the process, as there is nothing to leave in order.
struct Interrupted {};

class KeptConnection {
 public:
  explicit KeptConnection(const Client& client);

  nlohmann::json get(std::string_view path, const Query& query = {});
  // Of MLflow's API.
  nlohmann::json get_mlflow(std::string_view path, const Query& query);
  std::optional<nlohmann::json> find_mlflow(std::string_view path,
                                            const Query& query);  // nothing: there is none
  nlohmann::json post_mlflow(std::string_view path, const nlohmann::json& body);
  nlohmann::json post_mlflow_text(std::string_view path, std::string body);

 private:
  HttpResponse ask_mlflow(std::string_view path, const Query& query);
  HttpResponse send(const HttpRequest& request);
  HttpResponse exchange(const HttpRequest& request);

  const Client& client_;
  boost::asio::io_context loop_{1};
  boost::asio::signal_set signals_;
  HttpClient http_;
};

}  // namespace podium::cli
