// From a request of a model to its reply, on the server's thread; what takes long runs on pools of threads
// and on the model's engine. The time of a request counts from its arrival, and whatever it waits for ends
// when that is over or its client leaves.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "common/base/error.h"
#include "common/net/http_server.h"
#include "common/net/problem.h"
#include "common/spec/json_body.h"
#include "worker/serve/awaited.h"
#include "worker/serve/endpoint.h"
#include "worker/serve/request_account.h"
#include "worker/serve/request_fields.h"
#include "worker/serve/serve_replies.h"
#include "worker/serve/served_model.h"

namespace podium {

struct Answering {
  boost::asio::any_io_executor executor;
  boost::asio::thread_pool& readers;  // texts become tokens
  boost::asio::thread_pool& writers;  // results become answers
};

// A request in hand, on the server's thread alone. The model stays for it, whatever is loaded meanwhile.
struct AskedModel {
  AskedModel(ServerRequest request_in, std::shared_ptr<ServedModel> model_in,
             std::shared_ptr<RequestAccount> account_in, ServeTime deadline_in)
      : request(std::move(request_in)),
        model(std::move(model_in)),
        account(std::move(account_in)),
        deadline(deadline_in) {}

  ServerRequest request;
  std::shared_ptr<ServedModel> model;
  std::shared_ptr<RequestAccount> account;
  ServeTime deadline;  // as long as its body is not read, by the server's timeout

  // Why there is no answer.
  ServerReply given_up() const {
    return request.client->has_left() ? client_left(request.id) : timed_out(request.id);
  }
};
using Asked = std::shared_ptr<AskedModel>;

boost::asio::awaitable<ServerReply> answer_in_batches(Answering with, Asked asked, const Endpoint& endpoint);
// A stream of server-sent events, or of one piece.
boost::asio::awaitable<ServerReply> answer_with_text(Answering with, Asked asked);

// A place in a queue of the model, as long as somebody may still read the text that it is for.
struct HeldRoom {
  std::shared_ptr<ServedModel> model;
  QueueRoom room;
};

// What comes in time to a client that is there; else nothing.
template <class Value>
boost::asio::awaitable<std::optional<Value>> wait_for(Asked asked, std::shared_ptr<Awaited<Value>> awaited) {
  asked->request.client->on_leave([awaited] { awaited->give_up(); });
  std::optional<Value> value = co_await awaited->wait();
  asked->request.client->on_leave(nullptr);
  co_return value;
}

// What `work`, which owns what it uses, gives on a thread of the pool. It is not begun once nobody waits.
template <class Value>
std::shared_ptr<Awaited<Value>> begin_on(boost::asio::thread_pool& pool,
                                         boost::asio::any_io_executor executor, ServeTime deadline,
                                         std::function<Value(Awaited<Value>&)> work) {
  const auto awaited = std::make_shared<Awaited<Value>>(std::move(executor), deadline);
  boost::asio::post(pool, [awaited, work = std::move(work)] {
    if (!awaited->is_wanted()) return;
    try {
      awaited->give(work(*awaited));
    } catch (...) {
      awaited->fail(std::current_exception());
    }
  });
  return awaited;
}

// What `prepare` makes of the request's JSON; a refusal where it cannot.
template <class Prepared>
struct PreparedOrRefusal {
  std::optional<Prepared> prepared;
  std::optional<ServerReply> refusal;
};

// Takes the request's body, and sets its deadline. `prepare` owns what it uses. The room stays until the body
// is read or found not to be wanted, so that there are no more bodies than places.
template <class Prepared>
boost::asio::awaitable<PreparedOrRefusal<Prepared>> prepare(
    Answering with, Asked asked, std::shared_ptr<HeldRoom> room,
    std::function<Result<Prepared>(const nlohmann::json& body)> prepare) {
  using Made = PreparedOrRefusal<Prepared>;
  const auto body = std::make_shared<const std::string>(std::move(asked->request.body));
  const std::function<Made(Awaited<Made>&)> work = [id = asked->request.id,
                                                    arrived = asked->account->arrived(), body, room,
                                                    prepare](Awaited<Made>& awaited) -> Made {
    const Result<nlohmann::json> object = parse_object(*body);
    if (!object) return {{}, problem(400, detail_of(object.errors()), id, object.errors())};
    if (const auto timeout = stated_timeout(*object)) awaited.set_deadline(arrived + *timeout);
    Result<Prepared> prepared = prepare(*object);
    if (!prepared) return {{}, problem(prepared.errors(), id)};
    return {std::move(prepared).value(), {}};
  };
  const auto awaited = begin_on<Made>(with.readers, with.executor, asked->deadline, work);
  std::optional<Made> made = co_await wait_for<Made>(asked, awaited);
  asked->deadline = awaited->deadline();
  if (!made) co_return Made{{}, asked->given_up()};
  co_return std::move(*made);
}

}  // namespace podium
