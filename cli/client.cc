#include "cli/client.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "cli/absence.h"
#include "cli/fields.h"
#include "common/base/units.h"

namespace podium::cli {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr int kTriesToReach = 3;
constexpr auto kBetweenTries = 500ms;

Url parse_server(const std::string& text) {
  const auto url = parse_url(text);
  if (!url) throw Failure(Exit::usage, fmt::format("--coordinator {}: {}", text, describe(url.errors())));
  return *url;
}

std::optional<Duration> parse_timeout(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto timeout = parse_duration(text);
  if (!timeout || *timeout <= Duration{0})
    throw Failure(Exit::usage, fmt::format("--timeout must be a time such as 90s or 10m, not \"{}\"", text));
  return timeout;
}

Duration usual_timeout(Patience patience) { return patience == Patience::great ? 5min : 1min; }

// The text of JSON pointer steps: RFC 6901.
std::string unescaped(std::string text) {
  for (const auto& [escape, character] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}})
    for (std::size_t at = 0; (at = text.find(escape, at)) != std::string::npos; ++at)
      text.replace(at, 2, character);
  return text;
}

// A value of the request's body by what the user wrote for it: an option, or a key of the spec.
std::string name_of(const std::string& pointer) {
  static const std::map<std::string, std::string> options{
      {"until_ms", "--until"}, {"from_ms", "--from"},    {"reason", "--reason"},     {"share", "--share"},
      {"quota", "--quota"},    {"limit", "--limit"},     {"walltime", "--walltime"}, {"labels", "label"},
      {"stop", "--stop"},      {"priority", "PRIORITY"}, {"account", "--account"}};
  const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
  const std::string first = pointer.substr(1, end - 1);
  const auto option = options.find(first);
  std::string rest = pointer.substr(end);
  if (option != options.end()) return option->second + (rest.empty() ? "" : " " + unescaped(rest.substr(1)));
  std::ranges::replace(rest, '/', '.');
  return first + unescaped(rest);
}

// A parameter of the request's query by the option that gives it.
std::string option_of(const std::string& parameter) {
  if (parameter == "experiment_name") return "--experiment";
  if (parameter == "from_ms") return "--from";
  if (parameter == "to_ms") return "--to";
  if (parameter == "benchmark") return "BENCHMARK";
  return parameter == "key" ? "KEY" : "--" + parameter;
}

// The lines of a problem+json body, its list of errors or its one detail, in the words of the command line.
std::string problem_text(const HttpResponse& response) {
  const json body = json::parse(response.body, nullptr, false);
  if (!body.is_object())
    return "the request was refused without a reason; does a proxy answer in place of the coordinator?";
  std::string text;
  for (const json& error : body.value("errors", json::array())) {
    std::string where = text_field(error, "where");
    std::string message = text_field(error, "message");
    const std::string prefix = fmt::format("query parameter \"{}\" ", where);
    if (where.starts_with('/')) where = name_of(where);
    if (message.starts_with(prefix)) {
      message.erase(0, prefix.size());
      where = option_of(where);
    }
    text += (text.empty() ? "" : "\n") + (where.empty() ? "" : where + ": ") + message;
  }
  if (text.empty()) text = text_field(body, "message");  // of MLflow's API
  if (text.empty()) text = text_field(body, "detail", "the coordinator refused");
  constexpr std::string_view kHeader = "Idempotency-Key";
  if (const auto at = text.find(kHeader); at != std::string::npos) text.replace(at, kHeader.size(), "--key");
  if (response.status >= 500) text += fmt::format(" (request {})", text_field(body, "request_id", "?"));
  return text;
}

// What the coordinator has no words for that a user of the command line knows.
std::string refusal_text(const HttpResponse& response) {
  const std::string text = problem_text(response);
  const bool no_route =
      response.status == 405 || text.find("openapi.yaml lists what is") != std::string::npos;
  if (no_route)
    return "this coordinator does not know this request: it may be older than this program; compare podium "
           "version with podium-coordinator --version";
  if (response.status == 403 && text.find("token") != std::string::npos)
    return text + "; use the user token, not the agents'";
  if (response.status == 401 && text.starts_with("this needs a token")) return "this needs the user token";
  return text;
}

// Whether it changes nothing that matters: code that is packed twice is kept once.
bool reads(const HttpRequest& request) {
  return request.method == "GET" || (request.repeatable && request.headers.get("Idempotency-Key").empty());
}

// How to repeat a request that has a key, and why that is safe.
std::string repetition_text(const std::string& key) {
  return "repeated with --key " + key + " (of submit and reproduce), it is carried out once";
}

std::string remedy(int status) {
  if (status == 401) return "; name the user token with --token-file, PODIUM_TOKEN or PODIUM_HOME";
  if (status == 429 || status == 503) return "; try again in a moment";
  return "";
}

}  // namespace

std::string api_target(std::string_view path, const Query& query) {
  std::string target = "/api/v1" + std::string(path);
  char separator = '?';
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    target += separator + encode_component(name) + "=" + encode_component(value);
    separator = '&';
  }
  return target;
}

void require_ok(const HttpResponse& response) {
  if (response.status >= 400) throw Failure(Exit::refused, refusal_text(response) + remedy(response.status));
}

json parse_body(const HttpResponse& response) {
  json body = json::parse(response.body, nullptr, false);
  if (body.is_discarded())
    throw Failure(Exit::refused, "the answer is not JSON; is this a Podium coordinator?");
  return body;
}

Client::Client(const Session& session)
    : server_(parse_server(session.coordinator)),
      timeout_(parse_timeout(session.timeout)),
      token_(find_token(session)),
      ca_file_(session.ca_file) {}

ClientOptions Client::options() const {
  ClientOptions options;
  options.ca_file = ca_file_;
  return options;
}

HttpRequest Client::request(const std::string& method, std::string_view path, const Query& query) const {
  HttpRequest request;
  request.method = method;
  request.target = api_target(path, query);
  request.headers = {{"Accept", "application/json"}};
  if (!token_.empty()) request.headers.set("Authorization", "Bearer " + token_);
  return request;
}

Duration Client::timeout(Patience patience) const { return timeout_.value_or(usual_timeout(patience)); }

std::string Client::cause_of(const NetError& error) const {
  const std::string what =
      error.what();  // "GET http://127.0.0.1:7070/api/v1/jobs: cannot connect: Connection refused"
  const std::size_t colon = what.find(": ");
  return server_.origin() + (colon == std::string::npos ? ": " + what : what.substr(colon));
}

void Client::give_up(const NetError& error, const HttpRequest& request, Duration timeout, bool sent) const {
  const std::string key = request.headers.get("Idempotency-Key");
  const bool may_be = sent || error.failure() != NetFailure::unreachable;
  std::string done = may_be && !reads(request) ? ". The request may be carried out all the same" : "";
  if (!done.empty() && !key.empty())
    done += ": podium experiments lists what was submitted; " + repetition_text(key);
  if (error.failure() != NetFailure::timed_out)
    throw Failure(
        Exit::unreachable,
        fmt::format("cannot reach the coordinator at {}. Is it running? ./deploy/quickstart starts one; "
                    "--coordinator names another{}",
                    cause_of(error), done));
  throw Failure(Exit::unreachable,
                fmt::format("the coordinator at {} gave no answer within {}; --timeout {} waits longer{}",
                            server_.origin(), format_duration(timeout), format_duration(5 * timeout), done));
}

// Whoever interrupts the wait must know how to go on, too.
void Client::tell_repetition(const NetError& error, const HttpRequest& request, Duration longest) const {
  if (reads(request)) return;
  const std::string key = request.headers.get("Idempotency-Key");
  std::fprintf(stderr, "podium: %s; the request may have been carried out: sending it again for %s%s\n",
               cause_of(error).c_str(), format_duration(longest).c_str(),
               key.empty() ? "" : ("; " + repetition_text(key)).c_str());
}

HttpResponse Client::send(HttpRequest request, Repeat repeat, Patience patience, bool* repeated) const {
  const Duration longest = timeout(patience), restart = std::min(longest, kCoordinatorAbsence);
  std::optional<std::chrono::steady_clock::time_point> first_failure;
  bool sent = false;  // perhaps: no answer came
  for (int tries = 1;; ++tries) {
    try {
      HttpResponse response = fetch(server_, request, longest, options());
      if (repeated) *repeated = sent;
      const std::string key = request.headers.get("Idempotency-Key");
      if (response.status >= 500 && !key.empty())  // a coordinator that fails may have kept it
        throw Failure(Exit::refused,
                      refusal_text(response) + remedy(response.status) + "; " + repetition_text(key));
      require_ok(response);
      return response;
    } catch (const NetError& error) {
      const auto now = std::chrono::steady_clock::now();
      const bool may_have_come = error.failure() != NetFailure::unreachable;
      if (!first_failure) first_failure = now;
      const bool over_restart = repeat == Repeat::over_restart || sent || may_have_come;
      const bool soon = over_restart ? now - *first_failure < restart : tries < kTriesToReach;
      if (repeat == Repeat::never || error.failure() == NetFailure::timed_out || !soon)
        give_up(error, request, longest, sent);
      if (may_have_come && !sent) tell_repetition(error, request, restart);
      sent = sent || may_have_come;
      std::this_thread::sleep_for(kBetweenTries);
    }
  }
}

json Client::get(std::string_view path, const Query& query, Patience patience) const {
  return parse_body(send(request("GET", path, query), Repeat::never, patience));
}

std::string Client::get_text(std::string_view path) const {
  return send(request("GET", path), Repeat::never, Patience::usual).body;
}

json Client::get_pages(std::string_view path, Query query, const char* key, std::size_t most) const {
  constexpr std::size_t kLongestPage = 1000;
  json items = json::array();
  query.emplace_back("limit", "");
  query.emplace_back("page_token", "");
  while (true) {
    query[query.size() - 2].second = std::to_string(std::min(kLongestPage, most - items.size()));
    json page = get(path, query);
    for (json& item : page.at(key)) items.push_back(std::move(item));
    query.back().second = text_field(page, "next_page_token");
    if (query.back().second.empty() || items.size() >= most) {
      page[key] = std::move(items);
      return page;
    }
  }
}

json Client::newest_experiments() const { return get_pages("/experiments", {}, "experiments", 1000); }

void Client::remove(std::string_view path) const {
  send(request("DELETE", path), Repeat::never, Patience::usual);
}

json Client::post_bytes(std::string_view path, const std::string& type, std::string bytes) const {
  HttpRequest sent = request("POST", path);
  sent.headers.set("Content-Type", type);
  sent.repeatable = true;
  sent.body = std::move(bytes);
  return parse_body(send(std::move(sent), Repeat::briefly, Patience::great));
}

HttpRequest Client::post_of(std::string_view path, const json& body) const {
  HttpRequest sent = request("POST", path);
  sent.headers.set("Content-Type", "application/json");
  sent.body = body.dump();
  return sent;
}

json Client::post(std::string_view path, const json& body, const std::string& key, Patience patience) const {
  HttpRequest sent = post_of(path, body);
  if (!key.empty()) sent.headers.set("Idempotency-Key", key);
  sent.repeatable = !key.empty();
  return parse_body(send(std::move(sent), key.empty() ? Repeat::never : Repeat::briefly, patience));
}

json Client::post_again(std::string_view path, const json& body, Repeat repeat, bool& repeated) const {
  return parse_body(send(post_of(path, body), repeat, Patience::usual, &repeated));
}

}  // namespace podium::cli
