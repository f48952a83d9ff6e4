#include "cli/client.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>

#include "cli/fields.h"
#include "common/base/units.h"

namespace podium::cli {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr int kTriesWithKey = 3;

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

// A value of the request's body by what the user wrote for it: an option, or a key of the spec.
std::string name_of(const std::string& pointer) {
  static const std::map<std::string, std::string> options{
      {"until_ms", "--until"}, {"from_ms", "--from"}, {"reason", "--reason"},    {"share", "--share"},
      {"quota", "--quota"},    {"limit", "--limit"},  {"walltime", "--walltime"}};
  const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
  const std::string first = pointer.substr(1, end - 1);
  const auto option = options.find(first);
  std::string rest = pointer.substr(end);
  if (option != options.end()) return option->second + (rest.empty() ? "" : " " + rest.substr(1));
  std::ranges::replace(rest, '/', '.');
  return first + rest;
}

// A parameter of the request's query, which an option of the same name gives.
bool is_parameter(const std::string& where) {
  constexpr std::array kOptions{"state", "experiment", "name", "label", "account",
                                "sort",  "limit",      "kind", "points"};
  return std::ranges::find(kOptions, where) != kOptions.end();
}

// The lines of a problem+json body: its list of errors, or its one detail.
std::string problem_text(const HttpResponse& response) {
  const json body = json::parse(response.body, nullptr, false);
  if (!body.is_object())
    return fmt::format("the coordinator answered {} without saying why", response.status);
  std::string text;
  for (const json& error : body.value("errors", json::array())) {
    std::string where = text_field(error, "where");
    std::string message = text_field(error, "message");
    const std::string prefix = fmt::format("query parameter \"{}\" ", where);
    if (where.starts_with('/')) where = name_of(where);
    if (is_parameter(where) && message.starts_with(prefix)) {
      message.erase(0, prefix.size());
      where = "--" + where;
    }
    text += (text.empty() ? "" : "\n") + (where.empty() ? "" : where + ": ") + message;
  }
  if (text.empty()) text = text_field(body, "detail", "the coordinator refused");
  if (response.status >= 500) text += fmt::format(" (request {})", text_field(body, "request_id", "?"));
  return text;
}

std::string remedy(int status) {
  if (status == 401) return "; name the user token with --token-file, PODIUM_TOKEN or PODIUM_HOME";
  if (status == 403) return "; use the user token, not the agents'";
  if (status == 429 || status == 503) return "; try again in a moment";
  return "";
}

json parse_body(const HttpResponse& response) {
  json body = json::parse(response.body, nullptr, false);
  if (body.is_discarded())
    throw Failure(Exit::refused, "the answer is not JSON; is this a Podium coordinator?");
  return body;
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
  if (response.status >= 400) throw Failure(Exit::refused, problem_text(response) + remedy(response.status));
}

Client::Client(const Session& session)
    : server_(parse_server(session.coordinator)),
      timeout_(parse_timeout(session.timeout)),
      token_(find_token(session)),
      ca_file_(session.ca_file) {}

Headers Client::headers() const {
  Headers headers{{"Accept", "application/json"}};
  if (!token_.empty()) headers.set("Authorization", "Bearer " + token_);
  return headers;
}

void Client::give_up(const NetError& error, const HttpRequest& request, Duration timeout) const {
  if (error.failure() != NetFailure::timed_out)
    throw Failure(
        Exit::unreachable,
        fmt::format("cannot reach the coordinator: {}. Is it running? ./deploy/quickstart starts one; "
                    "--coordinator names another",
                    error.what()));
  throw Failure(Exit::unreachable,
                fmt::format("{}, which is {} here; --timeout {} waits longer{}", error.what(),
                            format_duration(timeout), format_duration(5 * timeout),
                            request.method == "GET" ? "" : ". What was asked for may be done all the same"));
}

HttpResponse Client::send(HttpRequest request, int tries, Patience patience) const {
  ClientOptions options;
  options.ca_file = ca_file_;
  const Duration timeout = timeout_.value_or(usual_timeout(patience));
  while (true) {
    try {
      HttpResponse response = fetch(server_, request, timeout, options);
      require_ok(response);
      return response;
    } catch (const NetError& error) {
      if (--tries <= 0 || error.failure() == NetFailure::timed_out) give_up(error, request, timeout);
      std::this_thread::sleep_for(500ms);
    }
  }
}

HttpResponse Client::get_text(std::string_view path, const Query& query, Patience patience) const {
  HttpRequest request;
  request.target = api_target(path, query);
  request.headers = headers();
  return send(std::move(request), 1, patience);
}

json Client::get(std::string_view path, const Query& query, Patience patience) const {
  return parse_body(get_text(path, query, patience));
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

void Client::remove(std::string_view path) const {
  HttpRequest request;
  request.method = "DELETE";
  request.target = api_target(path);
  request.headers = headers();
  send(std::move(request), 1, Patience::usual);
}

json Client::post_bytes(std::string_view path, const std::string& type, std::string bytes) const {
  HttpRequest request;
  request.method = "POST";
  request.target = api_target(path);
  request.headers = headers();
  request.headers.set("Content-Type", type);
  request.repeatable = true;
  request.body = std::move(bytes);
  return parse_body(send(std::move(request), kTriesWithKey, Patience::great));
}

json Client::post(std::string_view path, const json& body, const std::string& key, Patience patience) const {
  HttpRequest request;
  request.method = "POST";
  request.target = api_target(path);
  request.headers = headers();
  request.headers.set("Content-Type", "application/json");
  if (!key.empty()) request.headers.set("Idempotency-Key", key);
  request.repeatable = !key.empty();
  request.body = body.dump();
  return parse_body(send(std::move(request), key.empty() ? 1 : kTriesWithKey, patience));
}

}  // namespace podium::cli
