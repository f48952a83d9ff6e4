// generate: a text as server-sent events, piece by piece as it comes, or whole.
#include <nlohmann/json.hpp>

#include "common/net/server_events.h"
#include "worker/serve/answering.h"
#include "worker/serve/generation_request.h"
#include "worker/serve/serve_replies.h"
#include "worker/serve/text_channel.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using nlohmann::json;
using Kind = GenerationEnded::Kind;

// A text that is being generated for a client. Where this goes before the end, the client has gone, and so
// does the text.
struct ComingText {
  Asked asked;
  std::shared_ptr<TextChannel> channel;
  std::size_t number = 0;
  std::size_t prompt_tokens = 0;
  bool ended = false;
  bool has_left = false;
  std::optional<TextChannel::Piece> first = std::nullopt;

  ComingText(Asked asked_in, std::shared_ptr<TextChannel> channel_in, std::size_t number_in,
             std::size_t prompt_tokens_in)
      : asked(std::move(asked_in)),
        channel(std::move(channel_in)),
        number(number_in),
        prompt_tokens(prompt_tokens_in) {}
  ComingText(const ComingText&) = delete;
  ~ComingText() {
    if (ended) return;
    asked->account->set_outcome("client_left");
    asked->model->texts()->cancel(number);
  }
};

awaitable<TextChannel::Piece> next_piece(std::shared_ptr<ComingText> coming) {
  TextChannel::Piece piece = co_await coming->channel->next();
  if (piece.is_late) coming->asked->model->texts()->cancel(coming->number);
  co_return piece;
}

std::string dumped(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

json end_of(const ComingText& coming, const Generation& done) {
  return {{"reason", to_string(done.reason)},
          {"tokens", done.ids.size()},
          {"prompt_tokens", coming.prompt_tokens}};
}

// The last event.
std::string end_event(const ComingText& coming, const GenerationEnded& ended) {
  RequestAccount& account = *coming.asked->account;
  if (ended.kind == Kind::done) {
    account.set_outcome("answered");
    return format_event({.name = "end", .data = dumped(end_of(coming, ended.generation))});
  }
  const bool late = ended.kind == Kind::expired;
  account.set_outcome(late ? "timed_out" : "failed");
  const std::string& id = coming.asked->request.id;
  return format_event({.name = "error", .data = (late ? timed_out(id) : model_failed(id)).body});
}

// A client that has ended no more than its side of the connection is told so, for a stream has a last event.
awaitable<std::optional<std::string>> next_events(std::shared_ptr<ComingText> coming) {
  if (coming->ended || coming->has_left) co_return std::nullopt;
  TextChannel::Piece piece;
  if (coming->first)
    piece = *std::exchange(coming->first, std::nullopt);
  else
    piece = co_await next_piece(coming);
  coming->has_left = piece.has_left;
  if (piece.has_left)
    co_return format_event({.name = "error", .data = client_left(coming->asked->request.id).body});
  std::string events;
  if (!piece.text.empty()) events = format_event({.name = "text", .data = dumped({{"text", piece.text}})});
  coming->ended = piece.ended.has_value();
  if (piece.ended) events += end_event(*coming, *piece.ended);
  co_return events;
}

ServerReply stream_of(std::shared_ptr<ComingText> coming) {
  ServerReply reply;
  reply.headers.set("Content-Type", "text/event-stream");
  reply.headers.set("Cache-Control", "no-store");
  reply.next_piece = [coming = std::move(coming)] { return next_events(coming); };
  return reply;
}

awaitable<ServerReply> whole_text(std::shared_ptr<ComingText> coming) {
  std::string text;
  TextChannel::Piece piece = *std::exchange(coming->first, std::nullopt);
  while (true) {
    text += piece.text;
    if (piece.ended || piece.has_left) break;
    piece = co_await next_piece(coming);
  }
  const std::string& id = coming->asked->request.id;
  if (piece.has_left) co_return client_left(id);
  coming->ended = true;
  if (piece.ended->kind == Kind::expired) co_return timed_out(id);
  if (piece.ended->kind == Kind::failed) co_return model_failed(id);
  json body = end_of(*coming, piece.ended->generation);
  body["text"] = text;
  co_return json_reply(dumped(body));
}

GenerationTask task_of(const Asked& asked, const PreparedText& text,
                       const std::shared_ptr<TextChannel>& channel) {
  return {.request = text.request,
          .rule = text.rule,
          .arrived = asked->account->arrived(),
          .deadline = asked->deadline,
          .on_text = [channel](std::string piece) { channel->add(std::move(piece)); },
          .on_end = [channel](GenerationEnded ended) { channel->end(std::move(ended)); }};
}

}  // namespace

awaitable<ServerReply> answer_with_text(Answering with, Asked asked) {
  GenerationEngine& engine = *asked->model->texts();
  std::optional<QueueRoom> reserved = engine.reserve();
  if (!reserved) co_return problem(429, "the model's queue is full; try again later", asked->request.id);
  const auto room = std::make_shared<HeldRoom>(asked->model, std::move(*reserved));
  const std::function<Result<PreparedText>(const json&)> prepare_body = [model =
                                                                             asked->model](const json& body) {
    return prepare_text(body, *model->loaded().language, model->positions());
  };
  PreparedOrRefusal<PreparedText> made = co_await prepare<PreparedText>(with, asked, room, prepare_body);
  if (made.refusal) co_return std::move(*made.refusal);
  const PreparedText& text = *made.prepared;
  const auto channel = std::make_shared<TextChannel>(with.executor, asked->deadline);
  const std::size_t number = engine.submit(task_of(asked, text, channel), std::move(room->room));
  const auto coming = std::make_shared<ComingText>(asked, channel, number, text.request.prompt.size());
  asked->request.client->on_leave([channel] { channel->leave(); });
  coming->first = co_await next_piece(coming);
  const bool fails = coming->first->ended && coming->first->ended->kind != Kind::done;
  if (text.stream && !fails && !coming->first->has_left) co_return stream_of(coming);
  co_return co_await whole_text(coming);
}

}  // namespace podium
