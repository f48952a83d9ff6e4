#include "coordinator/mlflow/artifact_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/mlflow/run_id.h"

namespace podium::mlflow {
namespace {

using testing::HasSubstr;

const std::string kCluster = "0123456789abcdef0011223344556677";
const std::string kRun = run_id_of(JobId{12}, kCluster);

ArtifactPath path_of(const std::string& text) { return *parse_artifact_path(text, kCluster); }
ErrorCode fault_of_path(const std::string& text) {
  const auto parsed = parse_artifact_path(text, kCluster);
  EXPECT_FALSE(parsed) << text;
  return parsed ? ErrorCode::unavailable : parsed.errors().front().code;
}

TEST(ArtifactPath, IsOfTheRunThatItNames) {
  EXPECT_EQ(path_of("7/" + kRun + "/artifacts"), (ArtifactPath{JobId{12}, {}}));
  EXPECT_EQ(path_of("7/" + kRun + "/artifacts/model.bin"), (ArtifactPath{JobId{12}, {"model.bin"}}));
  EXPECT_EQ(path_of("7/" + kRun + "/artifacts/a b/c.d/.e"), (ArtifactPath{JobId{12}, {"a b", "c.d", ".e"}}));
  EXPECT_EQ(path_of("7/" + kRun + "/artifacts/päth/…"), (ArtifactPath{JobId{12}, {"päth", "…"}}));
}

TEST(ArtifactPath, HasAnyLocationOfAnExperimentBeforeTheRun) {
  EXPECT_EQ(path_of(kRun + "/artifacts/x"), (ArtifactPath{JobId{12}, {"x"}}));
  EXPECT_EQ(path_of("team/artifacts/" + kRun + "/artifacts/x"), (ArtifactPath{JobId{12}, {"x"}}));
  // A run's id further on is a name like any other.
  const std::string other = run_id_of(JobId{13}, kCluster);
  EXPECT_EQ(path_of("7/" + kRun + "/artifacts/" + other + "/artifacts/x"),
            (ArtifactPath{JobId{12}, {other, "artifacts", "x"}}));
}

TEST(ArtifactPath, BelowNoRunsFolderIsNoneOfOurs) {
  const std::string stranger = run_id_of(JobId{12}, "f" + kCluster.substr(1));
  for (const std::string& text : std::vector<std::string>{
           std::string(), std::string("7"), "7/" + kRun, "7/" + kRun + "/x", "7/" + kRun + "/x/artifacts",
           "7/" + stranger + "/artifacts/x", "7/x/artifacts/y", "artifacts", kRun + "/Artifacts/x"})
    EXPECT_EQ(fault_of_path(text), ErrorCode::not_found) << text;
}

TEST(ArtifactPath, LeadsNowhereElse) {
  const std::string root = "7/" + kRun + "/artifacts/";
  for (const std::string& text : std::vector<std::string>{root + "..",        root + "../x",
                                                          root + "a/../../x", root + ".",
                                                          root + "a/./b",     "../" + root + "x",
                                                          "/" + root + "x",   root,
                                                          root + "/x",        root + "a//b",
                                                          root + "a/",        "/etc/passwd",
                                                          root + "a\\b",      root + "..\\x",
                                                          root + "a#b",       root + "a\nb",
                                                          root + "a\x7f",     root + std::string("a\0b", 3),
                                                          root + "\xff",      root + std::string(256, 'a'),
                                                          "//" + root + "x",  std::string("..")})
    EXPECT_EQ(fault_of_path(text), ErrorCode::invalid) << text;
  std::string deep = root;
  while (deep.size() <= 3000) deep += "abcdefg/";
  EXPECT_EQ(fault_of_path(deep + "x"), ErrorCode::invalid);
}

TEST(ArtifactPath, MayHaveDotsAndLengthsThatAFileSystemTakes) {
  const std::string root = "7/" + kRun + "/artifacts/";
  EXPECT_EQ(path_of(root + "...").parts, std::vector<std::string>{"..."});
  EXPECT_EQ(path_of(root + "a..b").parts, std::vector<std::string>{"a..b"});
  EXPECT_EQ(path_of(root + std::string(255, 'a')).parts.front().size(), 255u);
  EXPECT_EQ(path_of(root + "%2e%2e").parts, std::vector<std::string>{"%2e%2e"}) << "it is decoded once";
}

TEST(ArtifactPath, OfAnUri) {
  EXPECT_EQ(kept_path("mlflow-artifacts:/7/" + kRun + "/artifacts"), "7/" + kRun + "/artifacts");
  for (const char* other : {"s3://bucket/7", "mlflow-artifacts://other/7", "/7", "file:///7", ""})
    EXPECT_EQ(kept_path(other), std::nullopt) << other;
}

TEST(ArtifactPath, OfAFolderBelowARun) {
  EXPECT_EQ(*artifact_parts(""), std::vector<std::string>{});
  EXPECT_EQ(*artifact_parts("model/data"), (std::vector<std::string>{"model", "data"}));
  EXPECT_THAT(artifact_parts("../x").errors().front().message, HasSubstr("\"../x\""));
  EXPECT_THAT(artifact_parts("a/").errors().front().message, HasSubstr("empty part"));
}

}  // namespace
}  // namespace podium::mlflow
