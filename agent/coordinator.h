// A connection of the agent to its coordinator: address, token and failure handling. The link and the shipper
// each have one.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <random>
#include <string>

#include "common/base/id.h"
#include "common/net/http_client.h"
#include "common/net/retry.h"

namespace podium {

struct CoordinatorConfig {
  Url url;
  std::string ca_file;  // "": the system's authorities
  std::string token;
  NodeId node;
};

class CoordinatorConnection {
 public:
  // `path` is appended to /api/v1/nodes/{node}.
  CoordinatorConnection(boost::asio::any_io_executor executor, const CoordinatorConfig& config,
                        std::string path);

  // Returns the body of a 200. Throws NetError, or std::runtime_error with the answer's text for any other
  // status.
  boost::asio::awaitable<std::string> post(Headers headers, std::string body,
                                           std::chrono::milliseconds timeout);

  void cancel() { client_.cancel(); }

  // Counts a failure and logs it if it is the first in a row or differs from the last; returns how long to
  // wait.
  std::chrono::milliseconds failed(const std::string& what);
  void succeeded();

 private:
  HttpClient client_;
  const std::string target_;
  const std::string authorization_;
  const std::string origin_;
  int failures_ = 0;
  std::string last_failure_;
  std::mt19937 random_;
};

}  // namespace podium
