// Asks the coordinator and turns every "no" into a Failure with the coordinator's own words.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/session.h"
#include "common/base/time.h"
#include "common/net/http_client.h"
#include "common/net/http_message.h"
#include "common/net/url.h"

namespace podium::cli {

using Query = std::vector<std::pair<std::string, std::string>>;

// "/api/v1/jobs?state=running": empty values are left out.
std::string api_target(std::string_view path, const Query& query = {});

// How long an answer may take where the session does not say.
enum class Patience {
  usual,  // a minute: a submission may wait for the nodes of a coordinator that has just started
  great,  // five: code over a slow line, a forecast where many jobs wait, the check of many specs
};

// What follows where no answer comes, which leaves open whether the request was carried out.
enum class Repeat {
  never,
  briefly,       // for a second; over a restart of the coordinator once it may have been carried out
  over_restart,  // for two minutes at most: the coordinator was there a moment ago
};

class Client {
 public:
  explicit Client(const Session& session);

  nlohmann::json get(std::string_view path, const Query& query = {},
                     Patience patience = Patience::usual) const;
  std::string get_text(std::string_view path) const;
  // Turns the pages of a list: the last answer, with at most `most` items of all of them under `key`.
  nlohmann::json get_pages(std::string_view path, Query query, const char* key, std::size_t most) const;
  nlohmann::json newest_experiments() const;  // the newest 1,000: {"experiments": [...]}
  // `key`, when not empty, makes it safe to send again, and it is sent again when the connection breaks.
  nlohmann::json post(std::string_view path, const nlohmann::json& body, const std::string& key = "",
                      Patience patience = Patience::usual) const;
  // Of what does no harm when it is carried out twice. `repeated` is set where it may have been.
  nlohmann::json post_again(std::string_view path, const nlohmann::json& body, Repeat repeat,
                            bool& repeated) const;

  // Safe to send again, and perhaps many bytes.
  nlohmann::json post_bytes(std::string_view path, const std::string& type, std::string bytes) const;

  void remove(std::string_view path) const;

  const Url& server() const { return server_; }
  ClientOptions options() const;
  HttpRequest request(const std::string& method, std::string_view path, const Query& query = {}) const;
  Duration timeout(Patience patience) const;
  // Where it was, and what kept the answer from coming: "http://127.0.0.1:7070: cannot connect: Connection
  // refused".
  std::string cause_of(const NetError& error) const;
  // Throws the Failure for a request that had no answer. `sent`: an earlier try of it may have come through.
  [[noreturn]] void give_up(const NetError& error, const HttpRequest& request, Duration timeout,
                            bool sent = false) const;

 private:
  HttpRequest post_of(std::string_view path, const nlohmann::json& body) const;
  void tell_repetition(const NetError& error, const HttpRequest& request, Duration longest) const;
  HttpResponse send(HttpRequest request, Repeat repeat, Patience patience, bool* repeated = nullptr) const;

  Url server_;
  std::optional<Duration> timeout_;
  std::string token_;
  std::string ca_file_;
};

// Throws the Failure that an answer of 400 or more stands for.
void require_ok(const HttpResponse& response);
nlohmann::json parse_body(const HttpResponse& response);

}  // namespace podium::cli
