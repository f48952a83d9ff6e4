// The fields of a request of MLflow's client, from its query or its JSON, as its server reads them: unknown
// ones are ignored, null is absence, and int64 may be text. Mistakes are collected.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/id.h"
#include "common/net/http_server.h"

namespace podium::mlflow {

class Fields {
 public:
  // Of a GET its query, of a POST its body.
  explicit Fields(const ServerRequest& request);
  explicit Fields(nlohmann::json object) : object_(std::move(object)) {}

  std::optional<std::string> text(std::string_view name);
  std::string needed_text(std::string_view name);  // "" where it is missing, which is a mistake
  std::optional<std::int64_t> integer(std::string_view name);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t least, std::int64_t most);
  std::int64_t needed_integer(std::string_view name);
  double needed_number(std::string_view name);  // also "NaN", "Infinity", "-Infinity"
  std::vector<std::string> texts(std::string_view name);
  // Each an object; none for what is none.
  // At most so many; none where there are more.
  std::vector<Fields> objects(std::string_view name, std::size_t most);
  const nlohmann::json& object() const { return object_; }

  // The one run that whoever asks may ask about; nothing: all.
  void limit_to(std::optional<JobId> run) { limit_ = run; }
  std::optional<JobId> limit() const { return limit_; }

  void refuse(std::string message);
  void refuse_more(std::size_t count, std::size_t most, std::string_view what);  // "tags"
  void refuse_if(std::string wrong);                                             // where it is not empty
  // Takes over the mistakes of an object that was read.
  void refuse(const Fields& part);
  const Errors& errors() const { return errors_; }

 private:
  const nlohmann::json* find(std::string_view name) const;
  const nlohmann::json* needed(std::string_view name);
  void refuse(std::string_view name, const nlohmann::json& value, const std::string& what);
  std::optional<std::int64_t> as_integer(const nlohmann::json& value, std::string_view name);

  nlohmann::json object_ = nlohmann::json::object();
  Errors errors_;
  std::optional<JobId> limit_;
};

}  // namespace podium::mlflow
