// One connection to the coordinator that is kept between requests, for coroutines; what it gives and throws
// is as Client has it. One request at a time.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/client.h"

namespace podium::cli {

class Connection {
 public:
  Connection(boost::asio::any_io_executor executor, const Client& client);

  boost::asio::awaitable<nlohmann::json> get(std::string path);
  // Of a request that changes nothing, and may be sent again.
  boost::asio::awaitable<std::string> ask(std::string path, nlohmann::json body);

 private:
  boost::asio::awaitable<HttpResponse> send(HttpRequest request);

  const Client& client_;
  HttpClient http_;
};

// Runs `work` on `loop` to its end; false when SIGINT or SIGTERM came first: it is left where it stands, at
// once.
bool run_unless_interrupted(boost::asio::io_context& loop, boost::asio::awaitable<void> work);

}  // namespace podium::cli
