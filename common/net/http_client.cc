#include "common/net/http_client.h"

#include <array>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "common/base/check.h"
#include "common/net/transport.h"

namespace podium {
namespace {

namespace http = beast::http;
using asio::awaitable;
using Milliseconds = std::chrono::milliseconds;
using WireRequest = http::request<http::string_body>;

// Where an answer's body goes: into the response, at most `max_body` of it, or, when `on_data` is set and the
// status is 200 or 206, to `on_data` piece by piece until that returns false.
struct BodySink {
  std::size_t max_body = 0;
  std::function<bool(std::string_view)> on_data = {};
  Milliseconds idle_timeout{};                            // between two pieces for on_data
  std::function<void(const HttpResponse&)> on_head = {};  // before them
  bool may_be_cut = false;                                // the body: what fails after the head is no failure
};

// What became of one exchange.
struct Outcome {
  error_code error;
  bool untouched = true;  // not one byte of an answer arrived
  bool has_head = false;
  bool keep = false;  // the connection can serve another request
  HttpResponse response;
};

NetFailure classify(const error_code& error) {
  if (error == beast::error::timeout) return NetFailure::timed_out;
  if (error == asio::error::operation_aborted || error == asio::error::bad_descriptor)
    return NetFailure::cancelled;
  return NetFailure::broken;
}

std::string cause(const error_code& error) {
  switch (classify(error)) {
    case NetFailure::timed_out:
      return "no answer in time";
    case NetFailure::cancelled:
      return "cancelled";
    default:
      return is_end_of_stream(error) ? "the server closed the connection" : error.message();
  }
}

WireRequest wire_request(const HttpRequest& request, const Url& server) {
  const std::string origin = server.origin();
  std::string host = origin.substr(origin.find("//") + 2);
  if (server.port == (server.tls ? 443 : 80))
    host.resize(host.rfind(':'));  // signatures are of the bare name
  WireRequest wire;
  wire.version(11);
  wire.method_string(request.method);
  wire.target(request.target);
  wire.set(http::field::host, host);
  wire.set(http::field::user_agent, "podium");
  for (const auto& [name, value] : request.headers) wire.set(name, value);
  wire.body() = request.body;
  if (!request.body.empty() || request.method != "GET") wire.prepare_payload();
  return wire;
}

template <class Stream>
awaitable<Outcome> exchange(Stream& stream, beast::flat_buffer& buffer, WireRequest request, BodySink sink) {
  Outcome outcome;
  // A server may answer, and close, before it has read all: then the answer counts, not the broken write.
  const auto [write_error, written] = co_await http::async_write(stream, request, kAsTuple);
  http::response_parser<http::buffer_body> parser;
  parser.body_limit(boost::none);  // counted below: a stream's pieces are not kept
  parser.skip(request.method() == http::verb::head);
  const auto [header_error, header_bytes] =
      co_await http::async_read_header(stream, buffer, parser, kAsTuple);
  outcome.untouched = header_bytes == 0;
  if (header_error) {
    outcome.error = write_error && is_end_of_stream(header_error) ? write_error : header_error;
    co_return outcome;
  }
  outcome.has_head = true;
  outcome.response.status = static_cast<int>(parser.get().result_int());
  outcome.response.headers = headers_from(parser.get().base());

  const int status = outcome.response.status;
  const bool live = sink.on_data && (status == 200 || status == 206);
  if (live && sink.on_head) sink.on_head(outcome.response);
  if (!live && !parser.is_done() && parser.content_length().value_or(0) > sink.max_body) {
    outcome.error = http::error::body_limit;
    co_return outcome;
  }
  std::array<char, 16384> piece;
  while (!parser.is_done()) {
    parser.get().body() = {piece.data(), piece.size(), true};
    if (live) beast::get_lowest_layer(stream).expires_after(sink.idle_timeout);
    auto [error, bytes] = co_await http::async_read_some(stream, buffer, parser, kAsTuple);
    if (error == http::error::need_buffer) error = {};
    if (error) {
      outcome.error = error;
      co_return outcome;
    }
    const std::size_t got = piece.size() - parser.get().body().size;
    if (live && got > 0 && !sink.on_data({piece.data(), got})) co_return outcome;
    if (live) continue;
    if (got > sink.max_body - outcome.response.body.size()) {
      outcome.error = http::error::body_limit;
      co_return outcome;
    }
    outcome.response.body.append(piece.data(), got);
  }
  outcome.keep = parser.keep_alive() && !write_error;
  co_return outcome;
}

// A name being looked up, on a thread that nobody waits for: getaddrinfo cannot be called off, and takes as
// long as the system's resolver likes. Shared with that thread, which may outlive the client.
struct Lookup {
  std::atomic<bool> done = false;  // set last
  error_code error;
  std::vector<Tcp::endpoint> endpoints;
};

std::shared_ptr<const Lookup> start_lookup(const std::string& host, std::uint16_t port) {
  const auto lookup = std::make_shared<Lookup>();
  std::thread([lookup, host, port] {
    asio::io_context io;
    Tcp::resolver resolver(io);
    for (const auto& entry : resolver.resolve(host, std::to_string(port), lookup->error))
      lookup->endpoints.push_back(entry.endpoint());
    lookup->done = true;
  }).detach();
  return lookup;
}

}  // namespace

class HttpClient::Impl {
 public:
  Impl(asio::any_io_executor executor, Url server, ClientOptions options)
      : executor_(std::move(executor)), server_(std::move(server)), options_(std::move(options)) {
    if (server_.tls) tls_.emplace(make_client_tls(options_.ca_file));
  }

  // `self` keeps this alive to the end.
  awaitable<HttpResponse> run(std::shared_ptr<Impl> self, HttpRequest request, Milliseconds timeout,
                              BodySink sink);
  void cancel();
  std::size_t max_body() const { return options_.max_body; }

 private:
  awaitable<std::vector<Tcp::endpoint>> resolve(Milliseconds timeout);
  awaitable<void> connect(std::string what, Milliseconds timeout);
  awaitable<Outcome> exchange_once(const HttpRequest& request, BodySink sink);
  void close();

  asio::any_io_executor executor_;
  Url server_;
  ClientOptions options_;
  std::optional<asio::ssl::context> tls_;
  std::unique_ptr<Transport> transport_;  // null before the first connection
  beast::flat_buffer buffer_;
  bool busy_ = false;
  bool cancelled_ = false;
};

void HttpClient::Impl::close() {
  if (transport_) tcp_layer(*transport_).close();
}

void HttpClient::Impl::cancel() {
  cancelled_ = busy_;
  close();
}

awaitable<std::vector<Tcp::endpoint>> HttpClient::Impl::resolve(Milliseconds timeout) {
  error_code not_literal;
  const auto address = asio::ip::make_address(server_.host, not_literal);
  if (!not_literal) co_return std::vector{Tcp::endpoint(address, server_.port)};
  const auto lookup = start_lookup(server_.host, server_.port);
  asio::steady_timer look(executor_);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!lookup->done) {
    if (cancelled_) throw boost::system::system_error(asio::error::operation_aborted);
    if (std::chrono::steady_clock::now() >= deadline)
      throw boost::system::system_error(error_code(beast::error::timeout));
    look.expires_after(Milliseconds(2));
    co_await look.async_wait(kAsTuple);
  }
  if (lookup->error) throw boost::system::system_error(lookup->error);
  co_return lookup->endpoints;
}

awaitable<void> HttpClient::Impl::connect(std::string what, Milliseconds timeout) {
  buffer_.clear();
  try {
    const auto begun = std::chrono::steady_clock::now();
    const auto endpoints = co_await resolve(timeout);
    if (tls_)
      transport_ = std::make_unique<Transport>(std::in_place_type<TlsStream>, executor_, *tls_);
    else
      transport_ = std::make_unique<Transport>(std::in_place_type<PlainStream>, executor_);
    auto& tcp = tcp_layer(*transport_);
    tcp.expires_at(begun + timeout);
    if (cancelled_) throw boost::system::system_error(asio::error::operation_aborted);
    co_await tcp.async_connect(endpoints, asio::use_awaitable);
    tcp.socket().set_option(Tcp::no_delay(true));
    if (auto* stream = std::get_if<TlsStream>(transport_.get())) {
      SSL_set_tlsext_host_name(stream->native_handle(), server_.host.c_str());
      stream->set_verify_callback(asio::ssl::host_name_verification(server_.host));
      co_await stream->async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
    }
  } catch (const boost::system::system_error& error) {
    const NetFailure failure = cancelled_ ? NetFailure::cancelled : classify(error.code());
    close();  // the socket is open although it leads nowhere
    throw NetError(failure == NetFailure::broken ? NetFailure::unreachable : failure,
                   what + ": cannot connect: " + cause(error.code()));
  }
}

awaitable<Outcome> HttpClient::Impl::exchange_once(const HttpRequest& request, BodySink sink) {
  return std::visit(
      [&](auto& stream) {
        return exchange(stream, buffer_, wire_request(request, server_), std::move(sink));
      },
      *transport_);
}

awaitable<HttpResponse> HttpClient::Impl::run(std::shared_ptr<Impl> self, HttpRequest request,
                                              Milliseconds timeout, BodySink sink) {
  PODIUM_CHECK(!busy_, "an HttpClient serves one request at a time");
  struct Busy {
    Impl& impl;
    explicit Busy(Impl& owner) : impl(owner) { impl.busy_ = true, impl.cancelled_ = false; }
    ~Busy() { impl.busy_ = false; }
  } busy(*self);

  const std::string what = request.method + " " + server_.origin() + request.target;
  const bool repeatable = request.repeatable || request.method == "GET" || request.method == "HEAD";
  const bool kept = transport_ && tcp_layer(*transport_).socket().is_open();
  if (!kept) co_await connect(what, timeout);
  tcp_layer(*transport_).expires_after(timeout);
  Outcome outcome = co_await exchange_once(request, sink);
  if (kept && repeatable && outcome.untouched && is_end_of_stream(outcome.error) && !cancelled_) {
    close();
    co_await connect(what, timeout);
    outcome = co_await exchange_once(request, sink);
  }
  if (!outcome.keep) close();
  if (cancelled_) throw NetError(NetFailure::cancelled, what + ": cancelled");
  const bool is_cut = outcome.has_head && sink.may_be_cut;
  if (outcome.error && !is_cut) throw NetError(classify(outcome.error), what + ": " + cause(outcome.error));
  tcp_layer(*transport_).expires_never();
  co_return std::move(outcome.response);
}

HttpClient::HttpClient(asio::any_io_executor executor, Url server, ClientOptions options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(server), std::move(options))) {}

HttpClient::~HttpClient() { impl_->cancel(); }

void HttpClient::cancel() { impl_->cancel(); }

awaitable<HttpResponse> HttpClient::request(HttpRequest request, Milliseconds timeout) {
  return impl_->run(impl_, std::move(request), timeout, {.max_body = impl_->max_body()});
}

awaitable<HttpResponse> HttpClient::request_status(HttpRequest request, Milliseconds timeout) {
  return impl_->run(impl_, std::move(request), timeout, {.max_body = impl_->max_body(), .may_be_cut = true});
}

awaitable<HttpResponse> HttpClient::stream(HttpRequest request, Milliseconds idle_timeout,
                                           std::function<bool(std::string_view)> on_data,
                                           std::function<void(const HttpResponse&)> on_head) {
  BodySink sink{impl_->max_body(), std::move(on_data), idle_timeout, std::move(on_head)};
  return impl_->run(impl_, std::move(request), idle_timeout, std::move(sink));
}

namespace {

// Runs one exchange of a client of its own to the end and gives what it gave or threw.
template <class Start>
HttpResponse run_blocking(const Url& server, const ClientOptions& options, Start start) {
  asio::io_context io(1);
  HttpClient client(io.get_executor(), server, options);
  std::exception_ptr failure;
  HttpResponse response;
  asio::co_spawn(io, start(client), [&](std::exception_ptr thrown, HttpResponse answer) {
    failure = thrown;
    response = std::move(answer);
  });
  io.run();
  if (failure) std::rethrow_exception(failure);
  return response;
}

}  // namespace

HttpResponse fetch(const Url& server, HttpRequest request, Milliseconds timeout,
                   const ClientOptions& options) {
  return run_blocking(server, options,
                      [&](HttpClient& client) { return client.request(std::move(request), timeout); });
}

HttpResponse fetch_in_pieces(const Url& server, HttpRequest request, Milliseconds idle_timeout,
                             const std::function<bool(std::string_view)>& on_data,
                             const ClientOptions& options) {
  return run_blocking(server, options, [&](HttpClient& client) {
    return client.stream(std::move(request), idle_timeout, on_data);
  });
}

HttpResponse follow(const Url& server, HttpRequest request, Milliseconds idle_timeout,
                    const std::function<bool(const ServerEvent&)>& on_event, const ClientOptions& options) {
  ServerEventParser parser;
  const auto on_data = [&](std::string_view bytes) {
    parser.feed(bytes);
    while (const auto event = parser.next())
      if (!on_event(*event)) return false;
    return true;
  };
  return fetch_in_pieces(server, std::move(request), idle_timeout, on_data, options);
}

}  // namespace podium
