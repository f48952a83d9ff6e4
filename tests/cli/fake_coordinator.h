// A coordinator that knows a few answers, for what the real one cannot be made to say on demand. Records what
// it was asked.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/common/net/server_fixture.h"

namespace podium::test {

class FakeCoordinator {
 public:
  FakeCoordinator() : server_({}, [this](ServerRequest request) { return answer(std::move(request)); }) {}

  std::string address() const { return server_.url().origin(); }

  // For "GET /api/v1/jobs": by method and path, without the query.
  void on(const std::string& what, int status, const std::string& body, Headers headers = {}) {
    const std::lock_guard lock(mutex_);
    answers_[what].push_back({status, std::move(headers), body});
  }
  void on(const std::string& what, const nlohmann::json& body) { on(what, 200, body.dump()); }

  std::vector<ServerRequest> asked(const std::string& what) const {
    const std::lock_guard lock(mutex_);
    const auto found = asked_.find(what);
    return found == asked_.end() ? std::vector<ServerRequest>{} : found->second;
  }

 private:
  // The answers to one request come one after the other; the last stays.
  boost::asio::awaitable<ServerReply> answer(ServerRequest request) {
    const std::string what = request.method + " " + request.target.substr(0, request.target.find('?'));
    const std::lock_guard lock(mutex_);
    asked_[what].push_back(request);
    ServerReply reply;
    const auto found = answers_.find(what);
    if (found == answers_.end()) {
      reply.status = 404;
      reply.body = R"({"title":"Not found","status":404,"detail":"no such thing here"})";
      co_return reply;
    }
    static_cast<HttpResponse&>(reply) = found->second.front();
    if (found->second.size() > 1) found->second.erase(found->second.begin());
    co_return reply;
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<HttpResponse>> answers_;
  std::map<std::string, std::vector<ServerRequest>> asked_;
  TestServer server_;
};

inline nlohmann::json job_json(std::int64_t id, const std::string& state) {
  return {{"id", id},
          {"experiment", 3},
          {"name", "quickstart"},
          {"state", state},
          {"priority", 50},
          {"labels", {{"team", "nlp"}}},
          {"devices", 2},
          {"per_node", 1},
          {"kind", "cpu"},
          {"walltime_seconds", 3600},
          {"max_restarts", 5},
          {"submitted_ms", 1000},
          {"started_ms", 2000},
          {"ended_ms", nullptr},
          {"attempt", 1},
          {"elapsed_seconds", 58},
          {"ran_seconds", 0},
          {"running_since_ms", state == "running" ? nlohmann::json(2000) : nlohmann::json(nullptr)},
          {"restarts", 0},
          {"restart_counts",
           {{"failures", 0},
            {"requeues", 0},
            {"moves", 0},
            {"node_losses", 0},
            {"preemptions", 0},
            {"resizes", 0},
            {"promotions", 0}}},
          {"restarts_used", 0},
          {"reason", ""},
          {"progress", {{"step", 120}, {"steps", 2000}, {"updated_ms", 3000}}},
          {"latest", {{"train/loss", 5.125}, {"train/sequences_per_second", 310.2}}},
          {"target",
           {{"metric", "eval/gain_over_unigram"},
            {"at_least", 0.4},
            {"latest", 0.1},
            {"best", 0.12},
            {"reached_ms", nullptr},
            {"reached_step", nullptr}}},
          {"time_to_train_seconds", nullptr},
          {"attempts", nlohmann::json::array()}};
}

// What POST /jobs/{job}/logs answers of one output that ends there.
inline std::string output(int rank, const std::string& stream, const std::string& text,
                          std::int64_t offset = 0) {
  const std::int64_t next = offset + std::ssize(text);
  return nlohmann::json{{"rank", rank},          {"stream", stream}, {"offset", offset},
                        {"length", text.size()}, {"next", next},     {"end", next}}
             .dump() +
         "\n" + text;
}

}  // namespace podium::test
