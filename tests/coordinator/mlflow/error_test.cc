#include "coordinator/mlflow/error.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/net/problem.h"

namespace podium::mlflow {
namespace {

using nlohmann::json;

TEST(MlflowError, HasTheStatusThatTheProtocolGivesItsCode) {
  const std::vector<std::tuple<Code, std::string, int>> protocol{
      {Code::invalid_parameter_value, "INVALID_PARAMETER_VALUE", 400},
      {Code::bad_request, "BAD_REQUEST", 400},
      {Code::resource_already_exists, "RESOURCE_ALREADY_EXISTS", 400},
      {Code::unauthenticated, "UNAUTHENTICATED", 401},
      {Code::permission_denied, "PERMISSION_DENIED", 403},
      {Code::resource_does_not_exist, "RESOURCE_DOES_NOT_EXIST", 404},
      {Code::endpoint_not_found, "ENDPOINT_NOT_FOUND", 404},
      {Code::resource_conflict, "RESOURCE_CONFLICT", 409},
      {Code::request_limit_exceeded, "REQUEST_LIMIT_EXCEEDED", 429},
      {Code::resource_exhausted, "RESOURCE_EXHAUSTED", 429},
      {Code::internal_error, "INTERNAL_ERROR", 500},
      {Code::not_implemented, "NOT_IMPLEMENTED", 501},
      {Code::temporarily_unavailable, "TEMPORARILY_UNAVAILABLE", 503},
      {Code::deadline_exceeded, "DEADLINE_EXCEEDED", 504}};
  for (const auto& [code, name, status] : protocol) {
    const ServerReply reply = refusal({code, "no run \"7\""});
    EXPECT_EQ(reply.status, status) << name;
    EXPECT_EQ(json::parse(reply.body), (json{{"error_code", name}, {"message", "no run \"7\""}}));
    EXPECT_EQ(reply.headers.get("Content-Type"), "application/json");
    EXPECT_EQ(reply.headers.find("Retry-After") != nullptr, status == 429 || status == 503) << name;
    EXPECT_EQ(reply.headers.find("WWW-Authenticate") != nullptr, status == 401) << name;
  }
}

TEST(MlflowError, CarriesBytesThatAreNoText) {
  EXPECT_EQ(json::parse(refusal({Code::bad_request, "a\xff"}).body).at("message"), "a\xEF\xBF\xBD");
}

TEST(MlflowError, OfPodiumsErrors) {
  const std::vector<std::pair<ErrorCode, Code>> codes{
      {ErrorCode::invalid, Code::invalid_parameter_value},
      {ErrorCode::too_large, Code::invalid_parameter_value},
      {ErrorCode::not_found, Code::resource_does_not_exist},
      {ErrorCode::conflict, Code::resource_conflict},
      {ErrorCode::unauthorized, Code::unauthenticated},
      {ErrorCode::forbidden, Code::permission_denied},
      {ErrorCode::unavailable, Code::temporarily_unavailable}};
  for (const auto& [error, code] : codes)
    EXPECT_EQ(fault_of({{error, "first", ""}, {ErrorCode::conflict, "second", "b"}}),
              (Fault{code, "first\nb: second"}));
}

TEST(MlflowError, TakesTheFormAndKeepsTheStatusOfPodiumsRefusals) {
  const std::vector<std::pair<int, std::string>> codes{{400, "BAD_REQUEST"},
                                                       {401, "UNAUTHENTICATED"},
                                                       {403, "PERMISSION_DENIED"},
                                                       {404, "RESOURCE_DOES_NOT_EXIST"},
                                                       {405, "BAD_REQUEST"},
                                                       {409, "RESOURCE_CONFLICT"},
                                                       {413, "BAD_REQUEST"},
                                                       {500, "INTERNAL_ERROR"},
                                                       {503, "TEMPORARILY_UNAVAILABLE"},
                                                       {507, "INTERNAL_ERROR"}};
  for (const auto& [status, name] : codes) {
    const ServerReply reply = in_mlflow_form(problem(status, "why", "r1"));
    EXPECT_EQ(reply.status, status);
    EXPECT_EQ(json::parse(reply.body), (json{{"error_code", name}, {"message", "why"}}));
    EXPECT_EQ(reply.headers.get("Content-Type"), "application/json");
    EXPECT_EQ(reply.headers.get("Retry-After"), status == 503 ? "1" : "");
  }
}

TEST(MlflowError, NamesEveryProblemOfAList) {
  const Errors two{{ErrorCode::invalid, "no key", ""}, {ErrorCode::invalid, "no value", ""}};
  EXPECT_EQ(json::parse(in_mlflow_form(problem(two, "r1")).body).at("message"),
            "2 problems, listed in errors\nno key\nno value");
  EXPECT_EQ(json::parse(in_mlflow_form(problem({two[0]}, "r1")).body).at("message"), "no key");
}

TEST(MlflowError, HasNo422) {
  const ServerReply reply = in_mlflow_form(problem(422, "why", "r1"));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(json::parse(reply.body).at("error_code"), "BAD_REQUEST");
}

TEST(MlflowError, LeavesOtherRepliesAlone) {
  ServerReply reply;
  reply.status = 404;
  reply.headers.set("Content-Type", "text/plain");
  reply.body = "none";
  const ServerReply same = in_mlflow_form(reply);
  EXPECT_EQ(same.body, "none");
  EXPECT_EQ(same.status, 404);
}

}  // namespace
}  // namespace podium::mlflow
