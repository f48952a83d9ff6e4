#include <spdlog/fmt/fmt.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "worker/serve/answering.h"
#include "worker/serve/serve_replies.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using asio::awaitable;

ServerReply batch_queue_full(const BatchEngine& engine, const std::string& request_id) {
  ServerReply reply = problem(429, "the model's queue is full; try again later", request_id);
  reply.headers.set("Retry-After", std::to_string(engine.retry_after().count()));
  return reply;
}

// Nothing where the queue is full. Expired once the deadline is over, whatever the engine does.
awaitable<std::optional<EngineResult>> wait_for(asio::any_io_executor executor, BatchEngine& engine,
                                                EngineRequest request) {
  struct Waiting {
    asio::steady_timer timer;
    std::optional<EngineResult> result = std::nullopt;
  };
  const auto waiting = std::make_shared<Waiting>(asio::steady_timer(executor, request.deadline));
  request.done = [executor, waiting](EngineResult result) {
    asio::post(executor, [waiting, result = std::move(result)]() mutable {
      waiting->result = std::move(result);
      waiting->timer.cancel();
    });
  };
  if (!engine.submit(std::move(request))) co_return std::nullopt;
  co_await waiting->timer.async_wait(asio::as_tuple(asio::use_awaitable));
  if (!waiting->result) co_return EngineResult{.kind = EngineResult::Kind::expired};
  co_return std::move(waiting->result);
}

std::optional<ServerReply> failure_of(const EngineResult& result, const std::string& request_id) {
  if (result.kind == EngineResult::Kind::expired) return timed_out(request_id);
  if (result.kind == EngineResult::Kind::failed) return model_failed(request_id);
  return std::nullopt;
}

}  // namespace

awaitable<ServerReply> answer_in_batches(Answering answering, AskedModel asked, const Endpoint& endpoint) {
  const std::string& id = asked.request.id;
  BatchEngine& engine = *asked.model->batches();
  if (!engine.has_room()) co_return batch_queue_full(engine, id);
  const std::function<Result<PreparedRequest>(const nlohmann::json&)> prepare =
      [&](const nlohmann::json& body) { return endpoint.prepare(body, *asked.model->loaded().bert); };
  const PreparedOrRefusal<PreparedRequest> made =
      co_await prepare_on(answering.workers, asked.request, prepare);
  if (made.refusal) co_return *made.refusal;
  const PreparedRequest& prepared = *made.prepared;
  if (prepared.sequences.size() > engine.capacity())
    co_return problem(422,
                      fmt::format("this takes {} passes, and the queue holds {}; send a shorter text",
                                  prepared.sequences.size(), engine.capacity()),
                      id);
  const ServeTime arrived = asked.account->arrived();
  EngineRequest request{.pass = prepared.pass,
                        .top = prepared.top,
                        .sequences = prepared.sequences,
                        .arrived = arrived,
                        .deadline = arrived + prepared.timeout.value_or(answering.timeout)};
  const std::optional<EngineResult> result =
      co_await wait_for(answering.executor, engine, std::move(request));
  if (!result) co_return batch_queue_full(engine, id);
  if (std::optional<ServerReply> failure = failure_of(*result, id)) co_return *failure;
  const auto tell = [&] { return prepared.answer(result->results); };
  co_return json_reply(co_await run_on(answering.workers, tell));
}

}  // namespace podium
