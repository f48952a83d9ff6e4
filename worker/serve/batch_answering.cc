#include <spdlog/fmt/fmt.h>

#include "worker/serve/answering.h"

namespace podium {
namespace {

using boost::asio::awaitable;

ServerReply batch_queue_full(const BatchEngine& engine, const std::string& request_id) {
  ServerReply reply = problem(429, "the model's queue is full; try again later", request_id);
  reply.headers.set("Retry-After", std::to_string(engine.retry_after().count()));
  return reply;
}

ServerReply too_many_passes(std::size_t passes, const BatchEngine& engine, const std::string& request_id) {
  return problem(422,
                 fmt::format("this takes {} passes, and a request may have {} of the queue's places; send a "
                             "shorter text",
                             passes, engine.most_of_request()),
                 request_id);
}

// The sequences' results, or why there are none.
struct ComputedOrRefusal {
  std::vector<SequenceResult> results;
  std::optional<ServerReply> refusal;
};

awaitable<ComputedOrRefusal> compute(Answering with, Asked asked, const PreparedRequest& prepared,
                                     std::shared_ptr<HeldRoom> room) {
  BatchEngine& engine = *asked->model->batches();
  const std::string& id = asked->request.id;
  const auto awaited = std::make_shared<Awaited<EngineResult>>(with.executor, asked->deadline);
  EngineRequest request{.pass = prepared.pass,
                        .top = prepared.top,
                        .sequences = prepared.sequences,
                        .arrived = asked->account->arrived(),
                        .deadline = asked->deadline,
                        .done = [awaited](EngineResult result) { awaited->give(std::move(result)); }};
  const std::optional<std::uint64_t> number = engine.submit(std::move(request), std::move(room->room));
  if (!number) co_return ComputedOrRefusal{{}, batch_queue_full(engine, id)};
  std::optional<EngineResult> result = co_await wait_for<EngineResult>(asked, awaited);
  if (!result) {
    engine.cancel(*number);
    co_return ComputedOrRefusal{{}, asked->given_up()};
  }
  if (result->kind == EngineResult::Kind::expired) co_return ComputedOrRefusal{{}, timed_out(id)};
  if (result->kind == EngineResult::Kind::failed) co_return ComputedOrRefusal{{}, model_failed(id)};
  co_return ComputedOrRefusal{std::move(result->results), {}};
}

}  // namespace

awaitable<ServerReply> answer_in_batches(Answering with, Asked asked, const Endpoint& endpoint) {
  BatchEngine& engine = *asked->model->batches();
  std::optional<QueueRoom> reserved = engine.reserve();
  if (!reserved) co_return batch_queue_full(engine, asked->request.id);
  const auto room = std::make_shared<HeldRoom>(asked->model, std::move(*reserved));
  const std::function<Result<PreparedRequest>(const nlohmann::json&)> prepare_body =
      [make = endpoint.prepare, model = asked->model](const nlohmann::json& body) {
        return make(body, *model->loaded().bert);
      };
  PreparedOrRefusal<PreparedRequest> made =
      co_await prepare<PreparedRequest>(with, asked, room, prepare_body);
  if (made.refusal) co_return std::move(*made.refusal);
  const PreparedRequest& prepared = *made.prepared;
  if (prepared.sequences.size() > engine.most_of_request())
    co_return too_many_passes(prepared.sequences.size(), engine, asked->request.id);
  ComputedOrRefusal computed = co_await compute(with, asked, prepared, room);
  if (computed.refusal) co_return std::move(*computed.refusal);
  const auto results = std::make_shared<const std::vector<SequenceResult>>(std::move(computed.results));
  const std::function<std::string(Awaited<std::string>&)> tell =
      [answer = prepared.answer, model = asked->model, results](Awaited<std::string>&) {
        return answer(*results);
      };
  const auto telling = begin_on<std::string>(with.writers, with.executor, asked->deadline, tell);
  const std::optional<std::string> told = co_await wait_for<std::string>(asked, telling);
  if (!told) co_return asked->given_up();
  co_return json_reply(*told);
}

}  // namespace podium
