// What an agent learns from the environment that srun gives it.
#include "agent/pilot/allocation.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agent/pilot/pilot_home.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

Result<Pilot> pilot_with(std::map<std::string, std::string> variables,
                         std::optional<Duration> lent_for = {}) {
  const auto environment = [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return find_pilot(environment, from_millis(1'700'000'000'900), lent_for);
}

TEST(Allocation, NamesTheNodeByMachineAndAllocation) {
  const auto pilot =
      pilot_with({{"SLURM_JOB_ID", "17"}, {"SLURMD_NODENAME", "n1"}, {"SLURM_JOB_PARTITION", "gpu"}}, 2h);
  ASSERT_TRUE(pilot.ok());
  EXPECT_EQ(pilot->name, "n1-17");
  EXPECT_EQ(pilot->labels, (std::map<std::string, std::string>{{"slurm-job", "17"},
                                                               {"slurm-node", "n1"},
                                                               {"slurm-partition", "gpu"},
                                                               {"loan-ends", "1700007200"}}));
}

TEST(Allocation, WithoutATimeTheLoanHasNoEnd) {
  EXPECT_FALSE(pilot_with({{"SLURM_JOB_ID", "17"}, {"SLURMD_NODENAME", "n1"}})->labels.contains("loan-ends"));
}

TEST(Allocation, OutsideOfOneThereIsNone) {
  EXPECT_FALSE(pilot_with({}).ok());
  EXPECT_FALSE(pilot_with({{"SLURM_JOB_ID", "17"}}).ok());
  EXPECT_FALSE(pilot_with({{"SLURMD_NODENAME", "n1"}}).ok());
  EXPECT_FALSE(pilot_with({{"SLURM_JOB_ID", "17"}, {"SLURMD_NODENAME", "../n1"}}).ok());
  EXPECT_FALSE(pilot_with({{"SLURM_JOB_ID", "17"}, {"SLURMD_NODENAME", std::string(70, 'n')}}).ok());
}

TEST(PilotHome, IsThisUsersAlone) {
  const TempFolder folder;
  const auto homes = folder.path() / "homes";
  EXPECT_TRUE(make_pilot_homes(homes).empty());
  EXPECT_EQ(std::filesystem::status(homes).permissions(), std::filesystem::perms::owner_all);
  EXPECT_TRUE(make_pilot_homes(homes).empty()) << "again";
  ::chmod(homes.c_str(), 0777);
  EXPECT_FALSE(make_pilot_homes(homes).empty());
  ::chmod(homes.c_str(), 0720);
  EXPECT_FALSE(make_pilot_homes(homes).empty());
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "link");
  EXPECT_FALSE(make_pilot_homes(folder.path() / "link").empty());
  EXPECT_FALSE(make_pilot_homes(folder.path() / "no" / "homes").empty());
}

}  // namespace
}  // namespace podium
