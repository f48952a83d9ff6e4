#include "coordinator/api/submission.h"

#include <nlohmann/json.hpp>

namespace podium {
namespace {

using nlohmann::json;

Error malformed(const std::string& message, const std::string& where) {
  return {ErrorCode::invalid, message, where};
}

void check_source(const json& source, Errors& errors) {
  if (!source.is_object()) return errors.push_back(malformed("must be an object", "/source"));
  for (const auto& [key, value] : source.items()) {
    const bool text = key == "repository" || key == "commit" || key == "path";
    if (!text && key != "dirty") errors.push_back(malformed("is not known", "/source/" + key));
    if (text && !value.is_string()) errors.push_back(malformed("must be a string", "/source/" + key));
    if (key == "dirty" && !value.is_boolean())
      errors.push_back(malformed("must be true or false", "/source/dirty"));
  }
}

}  // namespace

Result<Submission> parse_submission(std::string_view body) {
  const json in = json::parse(body, nullptr, false);
  if (!in.is_object()) return malformed("the body must be a JSON object with \"spec\", the YAML text", "");
  Submission submission;
  submission.file = "spec.yaml";
  Errors errors;
  for (const auto& [key, value] : in.items()) {
    if (key == "spec" && value.is_string())
      submission.spec = value.get<std::string>();
    else if (key == "file" && value.is_string())
      submission.file = value.get<std::string>();
    else if (key == "spec" || key == "file")
      errors.push_back(malformed("must be a string", "/" + key));
    else if (key == "source" && !value.is_null())
      check_source(value, errors), submission.source = value.dump();
    else if (key != "source")
      errors.push_back(malformed("is not known", "/" + key));
  }
  if (!in.contains("spec")) errors.push_back(malformed("is missing", "/spec"));
  if (!errors.empty()) return errors;
  return submission;
}

}  // namespace podium
