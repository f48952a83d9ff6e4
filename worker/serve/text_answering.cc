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
  AskedModel asked;
  std::shared_ptr<TextChannel> channel;
  std::size_t number = 0;
  std::size_t prompt_tokens = 0;
  bool ended = false;
  std::optional<TextChannel::Piece> first;

  ~ComingText() {
    if (ended) return;
    asked.account->set_outcome("client_left");
    asked.model->texts()->cancel(number);
  }
};

std::string dumped(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

json end_of(const ComingText& coming, const Generation& done) {
  return {
      {"end", to_string(done.reason)}, {"tokens", done.ids.size()}, {"prompt_tokens", coming.prompt_tokens}};
}

// The last event.
std::string end_event(const ComingText& coming, const GenerationEnded& ended) {
  RequestAccount& account = *coming.asked.account;
  if (ended.kind == Kind::done) {
    account.set_outcome("answered");
    return format_event({.name = "end", .data = dumped(end_of(coming, ended.generation))});
  }
  const bool late = ended.kind == Kind::expired;
  account.set_outcome(late ? "timed_out" : "failed");
  const std::string& id = coming.asked.request.id;
  return format_event({.name = "error", .data = (late ? timed_out(id) : model_failed(id)).body});
}

awaitable<std::optional<std::string>> next_events(std::shared_ptr<ComingText> coming) {
  if (coming->ended) co_return std::nullopt;
  TextChannel::Piece piece;
  if (coming->first)
    piece = *std::exchange(coming->first, std::nullopt);
  else
    piece = co_await coming->channel->next();
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
    if (piece.ended) break;
    piece = co_await coming->channel->next();
  }
  coming->ended = true;
  const std::string& id = coming->asked.request.id;
  if (piece.ended->kind == Kind::expired) co_return timed_out(id);
  if (piece.ended->kind == Kind::failed) co_return model_failed(id);
  json body = end_of(*coming, piece.ended->generation);
  body["text"] = text;
  co_return json_reply(dumped(body));
}

std::optional<std::size_t> submit(GenerationEngine& engine, const PreparedText& text, ServeTime arrived,
                                  std::chrono::milliseconds timeout,
                                  const std::shared_ptr<TextChannel>& channel) {
  return engine.submit({.request = text.request,
                        .rule = text.rule,
                        .arrived = arrived,
                        .deadline = arrived + text.timeout.value_or(timeout),
                        .on_text = [channel](std::string piece) { channel->add(std::move(piece)); },
                        .on_end = [channel](GenerationEnded ended) { channel->end(std::move(ended)); }});
}

}  // namespace

awaitable<ServerReply> answer_with_text(Answering answering, AskedModel asked) {
  const std::string id = asked.request.id;
  GenerationEngine& engine = *asked.model->texts();
  if (!engine.has_room()) co_return problem(429, "the model's queue is full; try again later", id);
  const std::function<Result<PreparedText>(const json&)> prepare = [&](const json& body) {
    return prepare_text(body, *asked.model->loaded().language, asked.model->positions());
  };
  const PreparedOrRefusal<PreparedText> made = co_await prepare_on(answering.workers, asked.request, prepare);
  if (made.refusal) co_return *made.refusal;
  const auto channel = std::make_shared<TextChannel>(answering.executor);
  const std::optional<std::size_t> number =
      submit(engine, *made.prepared, asked.account->arrived(), answering.timeout, channel);
  if (!number) co_return problem(429, "the model's queue is full; try again later", id);
  const auto coming = std::make_shared<ComingText>();
  coming->asked = std::move(asked);
  coming->channel = channel;
  coming->number = *number;
  coming->prompt_tokens = made.prepared->request.prompt.size();
  coming->first = co_await channel->next();
  const bool fails = coming->first->ended && coming->first->ended->kind != Kind::done;
  if (made.prepared->stream && !fails) co_return stream_of(coming);
  co_return co_await whole_text(coming);
}

}  // namespace podium
