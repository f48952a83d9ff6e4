// Many requests over one connection, one after the other, or several at once over some more, for commands
// that are no coroutines. What it gives and throws is as Client has it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

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
  // The answers to several requests, which are under way together.
  std::vector<nlohmann::json> get_mlflow_each(std::string_view path, const std::vector<Query>& queries);
  std::optional<nlohmann::json> find_mlflow(std::string_view path,
                                            const Query& query);  // nothing: there is none
  nlohmann::json post_mlflow(std::string_view path, const nlohmann::json& body);
  nlohmann::json post_mlflow_text(std::string_view path, std::string body);

 private:
  HttpResponse ask_mlflow(std::string_view path, const Query& query);
  HttpResponse send(const HttpRequest& request);
  HttpResponse exchange(const HttpRequest& request);
  struct Outcome {
    std::optional<HttpResponse> response;
    std::exception_ptr failure;
  };
  std::vector<Outcome> exchange_each(const std::vector<HttpRequest>& requests);

  const Client& client_;
  boost::asio::io_context loop_{1};
  boost::asio::signal_set signals_;
  std::vector<std::unique_ptr<HttpClient>> clients_;  // one for each request at once
};

}  // namespace podium::cli
