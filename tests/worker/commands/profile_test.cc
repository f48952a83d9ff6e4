// podium-worker profile: what it counts, against what the model is known to cost.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/base/file.h"
#include "tests/child.h"
#include "tests/faults/training_job.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ProfileCommand : public testing::Test {
 protected:
  ProfileCommand() {
    write_training_data(folder_.path());
    write_file_atomic(path("job.yaml"), training_spec("small", 12));
  }
  std::string path(const std::string& name) const { return folder_.path() / name; }
  std::string profile(const std::string& arguments) {
    Child child(
        {"/bin/sh", "-c",
         "cd " + folder_.path().string() + " && \"$0\" profile job.yaml --threads 1 " + arguments + " > out",
         test::program_path("podium-worker")},
        path("log"));
    const int status = child.wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << read_file(path("log"));
    return read_file(path("out"));
  }

  TempFolder folder_;
};

double total(const json& rank, const char* field) {
  double sum = 0;
  for (const json& row : rank["rows"]) sum += row[field].get<double>();
  return sum;
}

TEST_F(ProfileCommand, RowsAddUpToTheSteps) {
  const json told = json::parse(profile("--devices 1 --steps 4 --json"));
  const json& rank = told["ranks"][0];
  EXPECT_EQ(rank["steps"], 4);
  EXPECT_NEAR(total(rank, "seconds"), rank["seconds"], 1e-6);
  EXPECT_GT(told["gflops"], 0);
  const json& memory = rank["memory_bytes"];
  EXPECT_EQ(memory["weights"], memory["gradients"]);
  EXPECT_EQ(memory["optimizer"], 2 * memory["weights"].get<std::int64_t>());
  EXPECT_FALSE(std::filesystem::exists(path("podium-run"))) << "nothing but the profile is kept";
}

TEST_F(ProfileCommand, TwoRanksShareTheProductsOfOne) {
  const json one = json::parse(profile("--devices 1 --steps 2 --json"))["ranks"];
  const json two = json::parse(profile("--devices 2 --steps 2 --json"))["ranks"];
  ASSERT_EQ(two.size(), 2U);
  EXPECT_NEAR(total(two[0], "flops") + total(two[1], "flops"), total(one[0], "flops"),
              0.05 * total(one[0], "flops"));  // masked positions differ a little from batch to batch
}

TEST_F(ProfileCommand, TheTableAndTheTraceNameTheOps) {
  const std::string table = profile("--devices 2 --out trace.json");
  EXPECT_THAT(table, HasSubstr("linear_forward["));
  EXPECT_THAT(table, HasSubstr("activations"));
  EXPECT_THAT(table, HasSubstr("rank 1:"));
  const json trace = json::parse(read_file(path("trace.json")));
  std::set<int> ranks;
  for (const json& event : trace["traceEvents"]) ranks.insert(event["pid"].get<int>());
  EXPECT_EQ(ranks, (std::set<int>{0, 1}));
}

}  // namespace
}  // namespace podium
