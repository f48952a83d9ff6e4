#include "cli/kept_connection.h"

#include <signal.h>

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <thread>

#include "cli/absence.h"

namespace podium::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kBeforeNextTry = 500ms;

std::string mlflow_target(std::string_view path, const Query& query) {
  return "/api/2.0/mlflow" + api_target(path, query).substr(api_target("").size());
}

}  // namespace

KeptConnection::KeptConnection(const Client& client) : client_(client), signals_(loop_) {}

std::vector<KeptConnection::Outcome> KeptConnection::exchange_each(const std::vector<HttpRequest>& requests) {
  while (clients_.size() < requests.size())
    clients_.push_back(
        std::make_unique<HttpClient>(loop_.get_executor(), client_.server(), client_.options()));
  std::vector<Outcome> outcomes(requests.size());
  if (requests.empty()) return outcomes;
  std::size_t left = requests.size();
  bool interrupted = false;
  for (const int signal : {SIGINT, SIGTERM}) signals_.add(signal);
  signals_.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    interrupted = true;
    for (const auto& client : clients_) client->cancel();
  });
  for (std::size_t i = 0; i < requests.size(); ++i)
    boost::asio::co_spawn(loop_, clients_[i]->request(requests[i], client_.timeout(Patience::great)),
                          [&, i](std::exception_ptr error, HttpResponse answer) {
                            outcomes[i] = {std::move(answer), error};
                            if (--left == 0) signals_.cancel();
                          });
  loop_.restart();
  loop_.run();
  if (interrupted) throw Interrupted{};
  return outcomes;
}

HttpResponse KeptConnection::exchange(const HttpRequest& request) {
  Outcome outcome = std::move(exchange_each({request}).front());
  if (outcome.failure) std::rethrow_exception(outcome.failure);
  return std::move(*outcome.response);
}

// Over a restart of the coordinator, and while it is too busy. A batch that was taken twice is kept once; of
// a run that was made twice one stays empty, and running.
HttpResponse KeptConnection::send(const HttpRequest& request) {
  const auto last = std::chrono::steady_clock::now() + kCoordinatorAbsence;
  while (true) {
    try {
      HttpResponse response = exchange(request);
      const bool busy = response.status == 429 || response.status == 503;
      if (!busy || std::chrono::steady_clock::now() > last) return response;
    } catch (const NetError& error) {
      if (error.failure() == NetFailure::timed_out || std::chrono::steady_clock::now() > last)
        client_.give_up(error, request, client_.timeout(Patience::great));
    }
    std::this_thread::sleep_for(kBeforeNextTry);
  }
}

nlohmann::json KeptConnection::get(std::string_view path, const Query& query) {
  const HttpResponse response = send(client_.request("GET", path, query));
  require_ok(response);
  return parse_body(response);
}

HttpResponse KeptConnection::ask_mlflow(std::string_view path, const Query& query) {
  HttpRequest request = client_.request("GET", path);
  request.target = mlflow_target(path, query);
  return send(request);
}

nlohmann::json KeptConnection::get_mlflow(std::string_view path, const Query& query) {
  const HttpResponse response = ask_mlflow(path, query);
  require_ok(response);
  return parse_body(response);
}

// What fails is asked for once more by itself, as long as others are.
std::vector<nlohmann::json> KeptConnection::get_mlflow_each(std::string_view path,
                                                            const std::vector<Query>& queries) {
  std::vector<HttpRequest> requests;
  for (const Query& query : queries) {
    requests.push_back(client_.request("GET", path));
    requests.back().target = mlflow_target(path, query);
  }
  std::vector<nlohmann::json> answers;
  const std::vector<Outcome> outcomes = exchange_each(requests);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const bool done = !outcomes[i].failure && outcomes[i].response->ok();
    answers.push_back(done ? parse_body(*outcomes[i].response) : get_mlflow(path, queries[i]));
  }
  return answers;
}

std::optional<nlohmann::json> KeptConnection::find_mlflow(std::string_view path, const Query& query) {
  const HttpResponse response = ask_mlflow(path, query);
  if (response.status == 404 && response.body.find("RESOURCE_DOES_NOT_EXIST") != std::string::npos)
    return std::nullopt;
  require_ok(response);
  return parse_body(response);
}

nlohmann::json KeptConnection::post_mlflow(std::string_view path, const nlohmann::json& body) {
  return post_mlflow_text(path, body.dump());
}

nlohmann::json KeptConnection::post_mlflow_text(std::string_view path, std::string body) {
  HttpRequest request = client_.request("POST", path);
  request.target = mlflow_target(path, {});
  request.headers.set("Content-Type", "application/json");
  request.repeatable = true;
  request.body = std::move(body);
  const HttpResponse response = send(request);
  require_ok(response);
  return parse_body(response);
}

}  // namespace podium::cli
