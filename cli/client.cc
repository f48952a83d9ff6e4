#include "cli/client.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
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
constexpr int kTriesToLearn = 30;  // what came of a request that was sent: as long as a restart takes

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
  const bool reads = request.method == "GET" || (request.repeatable && key.empty());
  const bool may_be = sent || error.failure() != NetFailure::unreachable;
  std::string done = may_be && !reads ? ". The request may be carried out all the same" : "";
  if (!done.empty() && !key.empty())
    done += "; a repetition under the key " + key + " (--key of submit and reproduce) is carried out once";
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

HttpResponse Client::send(HttpRequest request, int tries, Patience patience) const {
  const Duration longest = timeout(patience);
  bool sent = false;  // perhaps: no answer came
  while (true) {
    try {
      HttpResponse response = fetch(server_, request, longest, options());
      require_ok(response);
      return response;
    } catch (const NetError& error) {
      const bool may_have_come = error.failure() != NetFailure::unreachable;
      if (may_have_come && !sent && tries > 1) tries = kTriesToLearn;
      sent = sent || may_have_come;
      if (--tries <= 0 || error.failure() == NetFailure::timed_out) give_up(error, request, longest, sent);
      std::this_thread::sleep_for(500ms);
    }
  }
}

json Client::get(std::string_view path, const Query& query, Patience patience) const {
  return parse_body(send(request("GET", path, query), 1, patience));
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

void Client::remove(std::string_view path) const { send(request("DELETE", path), 1, Patience::usual); }

json Client::post_bytes(std::string_view path, const std::string& type, std::string bytes) const {
  HttpRequest sent = request("POST", path);
  sent.headers.set("Content-Type", type);
  sent.repeatable = true;
  sent.body = std::move(bytes);
  return parse_body(send(std::move(sent), kTriesWithKey, Patience::great));
}

json Client::post(std::string_view path, const json& body, const std::string& key, Patience patience) const {
  HttpRequest sent = request("POST", path);
  sent.headers.set("Content-Type", "application/json");
  if (!key.empty()) sent.headers.set("Idempotency-Key", key);
  sent.repeatable = !key.empty();
  sent.body = body.dump();
  return parse_body(send(std::move(sent), key.empty() ? 1 : kTriesWithKey, patience));
}

}  // namespace podium::cli
