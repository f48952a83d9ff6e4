#include "agent/coordinator.h"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/model/lease.h"

namespace podium {
namespace {

// Orders hold a spec for each task; a larger answer is not a coordinator's.
constexpr std::size_t kLongestAnswer = std::size_t{32} << 20;

// The sentence of a problem+json body, or the beginning of any other.
std::string words_of(const HttpResponse& response) {
  const auto problem = nlohmann::json::parse(response.body, nullptr, false);
  if (problem.is_object() && problem.contains("detail") && problem["detail"].is_string())
    return problem["detail"].get<std::string>();
  return response.body.substr(0, 200);
}

}  // namespace

CoordinatorConnection::CoordinatorConnection(boost::asio::any_io_executor executor,
                                             const CoordinatorConfig& config, std::string path)
    : client_(executor, config.url, ClientOptions{config.ca_file, kLongestAnswer}),
      target_("/api/v1/nodes/" + encode_component(config.node.value) + std::move(path)),
      authorization_("Bearer " + config.token),
      origin_(config.url.origin()),
      random_(std::random_device{}()) {}

boost::asio::awaitable<std::string> CoordinatorConnection::post(Headers headers, std::string body,
                                                                std::chrono::milliseconds timeout) {
  HttpRequest request;
  request.method = "POST";
  request.target = target_;
  request.headers = std::move(headers);
  request.headers.set("Authorization", authorization_);
  request.body = std::move(body);
  request.repeatable = true;
  const HttpResponse response = co_await client_.request(std::move(request), timeout);
  if (response.status == 200) co_return response.body;
  throw std::runtime_error(origin_ + target_ + " answered " + std::to_string(response.status) + ": " +
                           words_of(response));
}

std::chrono::milliseconds CoordinatorConnection::failed(const std::string& what) {
  ++failures_;
  if (what != last_failure_) spdlog::warn("{}; trying again", what);
  last_failure_ = what;
  static_assert(RetryPolicy{}.longest == lease::kLongestRetry);
  return retry_delay({}, failures_, std::uniform_real_distribution<>(0, 1)(random_));
}

void CoordinatorConnection::succeeded() {
  if (failures_ > 0) spdlog::info("{}{} answers again after {} failure(s)", origin_, target_, failures_);
  failures_ = 0;
  last_failure_.clear();
}

}  // namespace podium
