// From a request of a model to its reply, on the server's thread; what takes long runs on the workers and on
// the model's engine.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "common/base/error.h"
#include "common/net/http_server.h"
#include "common/net/problem.h"
#include "common/net/run_on.h"
#include "common/spec/json_body.h"
#include "worker/serve/endpoint.h"
#include "worker/serve/request_account.h"
#include "worker/serve/served_model.h"

namespace podium {

struct Answering {
  boost::asio::any_io_executor executor;
  boost::asio::thread_pool& workers;
  std::chrono::milliseconds timeout;  // of a request that does not say
};

// A request in hand. The model stays for it, whatever is loaded meanwhile.
struct AskedModel {
  ServerRequest request;
  std::shared_ptr<ServedModel> model;
  std::shared_ptr<RequestAccount> account;
};

boost::asio::awaitable<ServerReply> answer_in_batches(Answering answering, AskedModel asked,
                                                      const Endpoint& endpoint);
// A stream of server-sent events, or of one piece.
boost::asio::awaitable<ServerReply> answer_with_text(Answering answering, AskedModel asked);

// What `prepare` makes of the request's JSON, on the workers; a refusal where it cannot.
template <class Prepared>
struct PreparedOrRefusal {
  std::optional<Prepared> prepared;
  std::optional<ServerReply> refusal;
};
template <class Prepared>
boost::asio::awaitable<PreparedOrRefusal<Prepared>> prepare_on(
    boost::asio::thread_pool& workers, const ServerRequest& request,
    std::function<Result<Prepared>(const nlohmann::json& body)> prepare) {
  const auto work = [&]() -> PreparedOrRefusal<Prepared> {
    const Result<nlohmann::json> body = parse_object(request.body);
    if (!body) return {{}, problem(400, detail_of(body.errors()), request.id, body.errors())};
    Result<Prepared> prepared = prepare(*body);
    if (!prepared) return {{}, problem(prepared.errors(), request.id)};
    return {std::move(prepared).value(), {}};
  };
  co_return co_await run_on(workers, work);
}

}  // namespace podium
