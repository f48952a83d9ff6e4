// Asks the coordinator and turns every "no" into a Failure with the coordinator's own words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/session.h"
#include "common/net/http_message.h"
#include "common/net/url.h"

namespace podium::cli {

using Query = std::vector<std::pair<std::string, std::string>>;

// "/api/v1/jobs?state=running": empty values are left out.
std::string api_target(std::string_view path, const Query& query = {});

class Client {
 public:
  explicit Client(const Session& session);

  nlohmann::json get(std::string_view path, const Query& query = {}) const;
  // Turns the pages of a list: the last answer, with at most `most` items of all of them under `key`.
  nlohmann::json get_pages(std::string_view path, Query query, const char* key, std::size_t most) const;
  HttpResponse get_text(std::string_view path, const Query& query) const;
  // `key`, when not empty, makes it safe to send again, and it is sent again when the connection breaks.
  nlohmann::json post(std::string_view path, const nlohmann::json& body, const std::string& key = "") const;

  void remove(std::string_view path) const;

  const Url& server() const { return server_; }
  const std::string& ca_file() const { return ca_file_; }
  Headers headers() const;

 private:
  HttpResponse send(HttpRequest request, int tries) const;

  Url server_;
  std::string token_;
  std::string ca_file_;
};

// Throws the Failure that an answer of 400 or more stands for.
void require_ok(const HttpResponse& response);

}  // namespace podium::cli
