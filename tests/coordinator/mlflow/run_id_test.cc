#include "coordinator/mlflow/run_id.h"

#include <gtest/gtest.h>

#include <limits>

namespace podium::mlflow {
namespace {

const std::string kCluster = "0123456789abcdef0011223344556677";

TEST(RunId, IsTheClusterAndTheNumberOfTheJobInHex) {
  EXPECT_EQ(run_id_of(JobId{1}, kCluster), "0123456789abcdef0000000000000001");
  EXPECT_EQ(run_id_of(JobId{0xbeef}, kCluster), "0123456789abcdef000000000000beef");
  EXPECT_EQ(run_id_of(JobId{std::numeric_limits<std::int64_t>::max()}, kCluster),
            "0123456789abcdef7fffffffffffffff");
}

TEST(RunId, LeadsBackToTheJob) {
  for (const std::int64_t number : {std::int64_t{1}, std::int64_t{15}, std::int64_t{16},
                                    std::int64_t{123'456}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(job_of(run_id_of(JobId{number}, kCluster), kCluster), JobId{number});
}

TEST(RunId, OfAnotherClusterIsNoJobHere) {
  EXPECT_EQ(job_of("0123456789abcdee0000000000000001", kCluster), std::nullopt);
  EXPECT_EQ(job_of("0000000000000001"
                   "0123456789abcdef",
                   kCluster),
            std::nullopt);
  // The second half of the cluster's identity is no part of its run ids.
  EXPECT_EQ(job_of("0123456789abcdef0000000000000001", "0123456789abcdefffffffffffffffff"), JobId{1});
}

TEST(RunId, OtherTextIsNone) {
  for (const char* text :
       {"", "1", "0123456789abcdef", "0123456789abcdef000000000000001", "0123456789abcdef00000000000000001",
        "0123456789ABCDEF0000000000000001", "0123456789abcdef000000000000000A",
        "0123456789abcdef000000000000000g", "0123456789abcdef000000000000000 ",
        "0123456789abcdef-000000000000001", "0123456789abcdef0000000000000000",
        "0123456789abcdef8000000000000000", "0123456789abcdefffffffffffffffff"})
    EXPECT_EQ(job_of(text, kCluster), std::nullopt) << text;
}

}  // namespace
}  // namespace podium::mlflow
