// The HTTP client of the agent (coroutines on its io_context) and of the command line (blocking calls). In a
// coroutine give the HttpRequest a name first: GCC 12 destroys an aggregate built inside a co_await twice. A
// status of 400 or more is an answer, not a failure: a failure means that no answer arrived.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "common/net/http_message.h"
#include "common/net/server_events.h"
#include "common/net/url.h"

namespace podium {

enum class NetFailure { unreachable, timed_out, cancelled, broken };

// what() names the method, the address and the cause.
class NetError : public std::runtime_error {
 public:
  NetError(NetFailure failure, const std::string& message) : std::runtime_error(message), failure_(failure) {}
  NetFailure failure() const { return failure_; }

 private:
  NetFailure failure_;
};

struct ClientOptions {
  std::string ca_file;  // PEM of the authority that signed the server's certificate; "": the system's
  std::size_t max_body = std::size_t{64} << 20;
};

// One connection to one server, kept between requests. One request at a time; two at once need two clients.
class HttpClient {
 public:
  HttpClient(boost::asio::any_io_executor executor, Url server, ClientOptions options = {});
  ~HttpClient();  // cancels the request in flight

  // `timeout` bounds the whole exchange, connecting included. Throws NetError.
  boost::asio::awaitable<HttpResponse> request(HttpRequest request, std::chrono::milliseconds timeout);

  // As request(), for its status: once the head has arrived, a body that is longer than max_body, late or
  // broken off is cut short and no failure.
  boost::asio::awaitable<HttpResponse> request_status(HttpRequest request, std::chrono::milliseconds timeout);

  // As request(), but hands the body of a 200 or 206 on in pieces as they arrive, each within `idle_timeout`
  // of the one before; ends when the server does or when `on_data` returns false. The returned body is that
  // of other statuses. `on_head` is told the status and headers of a 200 or 206 first.
  boost::asio::awaitable<HttpResponse> stream(HttpRequest request, std::chrono::milliseconds idle_timeout,
                                              std::function<bool(std::string_view)> on_data,
                                              std::function<void(const HttpResponse&)> on_head = {});

  // The request in flight, if any, throws NetError with `cancelled`. On the executor's thread.
  void cancel();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with the request in flight, which may outlive the client by a turn
};

// Blocking, for the command line: one connection, one request.
HttpResponse fetch(const Url& server, HttpRequest request, std::chrono::milliseconds timeout,
                   const ClientOptions& options = {});

// Blocking: hands the body of a 200 or 206 on in pieces, as HttpClient::stream() does.
HttpResponse fetch_in_pieces(const Url& server, HttpRequest request, std::chrono::milliseconds idle_timeout,
                             const std::function<bool(std::string_view)>& on_data,
                             const ClientOptions& options = {});

// Blocking: reads server-sent events until `on_event` returns false or the server ends the stream.
HttpResponse follow(const Url& server, HttpRequest request, std::chrono::milliseconds idle_timeout,
                    const std::function<bool(const ServerEvent&)>& on_event,
                    const ClientOptions& options = {});

}  // namespace podium
