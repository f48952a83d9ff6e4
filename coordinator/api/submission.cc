#include "coordinator/api/submission.h"

#include <nlohmann/json.hpp>

#include "common/net/code_snapshot.h"
#include "common/spec/json_body.h"

namespace podium {
namespace {

using nlohmann::json;

void check_source(const json& source, const std::string& at, Errors& errors) {
  if (!source.is_object()) return refuse(errors, "must be an object", at + "/source");
  refuse_unknown(source, {"repository", "commit", "path", "dirty"}, errors, at + "/source");
  for (const auto& [key, value] : source.items()) {
    const bool text = key == "repository" || key == "commit" || key == "path";
    if (text && !value.is_string()) refuse(errors, "must be a string", at + "/source/" + key);
    if (key == "dirty" && !value.is_boolean()) refuse(errors, "must be true or false", at + "/source/dirty");
  }
}

bool is_commit(const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Result<Submission> read_submission(const json& in, const std::string& at) {
  if (!in.is_object()) return malformed("must be a JSON object with \"spec\", the YAML text", at);
  Submission submission;
  submission.file = "spec.yaml";
  Errors errors;
  need(in, "spec", "the YAML text", errors, at);
  refuse_unknown(in, {"spec", "file", "code", "code_commit", "source"}, errors, at);
  for (const auto& [key, value] : in.items()) {
    if (key == "spec" && value.is_string())
      submission.spec = value.get<std::string>();
    else if (key == "file" && value.is_string())
      submission.file = value.get<std::string>();
    else if (key == "code" && value.is_string() && is_sha256(value.get_ref<const std::string&>()))
      submission.code = value.get<std::string>();
    else if (key == "code_commit" && is_commit(value))
      submission.code_commit = value.get<std::string>();
    else if (key == "code_commit")
      refuse(errors, "must be a commit in full: 40 hexadecimal digits", at + "/code_commit");
    else if (key == "code")
      refuse(errors, "must be the sha256 that POST /code answered", at + "/code");
    else if (key == "spec" || key == "file")
      refuse(errors, "must be a string", at + "/" + key);
    else if (key == "source" && !value.is_null())
      check_source(value, at, errors);
  }
  if (!errors.empty()) return errors;
  if (const auto source = in.find("source"); source != in.end() && !source->is_null())
    submission.source = source->dump();
  return submission;
}

}  // namespace

Result<Submission> parse_submission(std::string_view body) {
  const Result<json> in = parse_object(body);
  if (!in) return in.errors();
  return read_submission(*in, "");
}

Result<std::vector<Submission>> parse_submissions(std::string_view body) {
  const Result<json> in = parse_object(body);
  if (!in) return in.errors();
  Errors errors;
  need(*in, "specs", "a list of submissions", errors);
  refuse_unknown(*in, {"specs"}, errors);
  if (!errors.empty()) return errors;
  const json& specs = in->at("specs");
  if (!specs.is_array() || specs.empty() || specs.size() > kMostSubmissions)
    return malformed("must be a list of 1 to " + std::to_string(kMostSubmissions) + " submissions", "/specs");
  std::vector<Submission> submissions;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Result<Submission> one = read_submission(specs[i], "/specs/" + std::to_string(i));
    for (const Error& error : one.errors()) refuse(errors, error.message, error.where);
    if (one) submissions.push_back(std::move(one).value());
  }
  if (!errors.empty()) return errors;
  return submissions;
}

}  // namespace podium
