#include "coordinator/mlflow/run_token.h"

#include <gtest/gtest.h>

namespace podium::mlflow {
namespace {

const std::string kCluster = "0123456789abcdef0011223344556677";
const std::string kKey = "a key of the coordinator";

// printf 'run 0123456789abcdef000000000000000c' | openssl dgst -sha256 -hmac 'a key of the coordinator'
constexpr const char* kToken =
    "podium-run-12-1152ceed8c7b6327a5be528d676568b99a6f01688194b9e0ddc49c9687314163";

TEST(RunToken, IsTheMacOfTheRunsId) { EXPECT_EQ(run_token(JobId{12}, kCluster, kKey), kToken); }

TEST(RunToken, IsOfItsJobAlone) {
  EXPECT_EQ(job_of_token(kToken, kCluster, kKey), JobId{12});
  for (const std::int64_t job : {1, 11, 13, 120})
    EXPECT_EQ(job_of_token(run_token(JobId{job}, kCluster, kKey), kCluster, kKey), JobId{job});
  std::string moved = kToken;
  moved.replace(moved.find("12"), 2, "13");
  EXPECT_EQ(job_of_token(moved, kCluster, kKey), std::nullopt);
}

TEST(RunToken, OfAnotherKeyOrClusterIsNone) {
  EXPECT_EQ(job_of_token(kToken, kCluster, "another key"), std::nullopt);
  EXPECT_EQ(job_of_token(kToken, "f" + kCluster.substr(1), kKey), std::nullopt);
}

TEST(RunToken, OtherTextIsNone) {
  const std::string token = kToken;
  const std::string mac = token.substr(14);
  for (const char* form :
       {"", "podium-run-", "podium-run--12-", "podium-run-012-", "podium-run- 12-", "podium-run-0-",
        "podium-run-12", "podium-run-99999999999999999999-", "Podium-run-12-"})
    for (const std::string& end : {std::string(), mac})
      EXPECT_EQ(job_of_token(form + end, kCluster, kKey), std::nullopt) << form << end;
  for (const std::string& text : {token + "0", token.substr(0, 77), token.substr(0, 14)})
    EXPECT_EQ(job_of_token(text, kCluster, kKey), std::nullopt) << text;
}

}  // namespace
}  // namespace podium::mlflow
