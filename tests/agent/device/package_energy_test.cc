// Counters of processor packages in a folder made like the kernel's.
#include "agent/device/package_energy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/temp_folder.h"

namespace podium {
namespace {

using testing::HasSubstr;

class PackageEnergyTest : public testing::Test {
 protected:
  void zone(const std::string& name, const std::string& what, std::uint64_t micro_joules,
            std::uint64_t range = 1'000'000'000) {
    std::filesystem::create_directories(folder_.path() / name);
    put(name + "/name", what);
    put(name + "/max_energy_range_uj", std::to_string(range));
    put(name + "/energy_uj", std::to_string(micro_joules));
  }
  void put(const std::string& file, const std::string& text) {
    std::ofstream(folder_.path() / file) << text << "\n";
  }

  TempFolder folder_;
};

TEST_F(PackageEnergyTest, AddsUpWhatThePackagesDrewSinceTheFirstLook) {
  zone("intel-rapl:0", "package-0", 5'000'000);
  zone("intel-rapl:1", "package-1", 900'000'000);
  PackageEnergy energy(folder_.path());
  EXPECT_THAT(energy.note(), HasSubstr("2 processor package(s)"));
  EXPECT_EQ(energy.look(), 0.0);
  put("intel-rapl:0/energy_uj", "7500000");
  put("intel-rapl:1/energy_uj", "901000000");
  EXPECT_DOUBLE_EQ(*energy.look(), 2.5 + 1.0);
}

TEST_F(PackageEnergyTest, ACounterThatHasGoneRoundGoesOn) {
  zone("intel-rapl:0", "package-0", 999'000'000);
  PackageEnergy energy(folder_.path());
  energy.look();
  put("intel-rapl:0/energy_uj", "2000000");
  EXPECT_DOUBLE_EQ(*energy.look(), 1.0 + 2.0);
  put("intel-rapl:0/energy_uj", "1000000000");
  EXPECT_DOUBLE_EQ(*energy.look(), 1.0 + 1000.0);
}

TEST_F(PackageEnergyTest, ZonesInPackagesAndOfTheMachineDoNotCountTwice) {
  zone("intel-rapl:0", "package-0", 0);
  zone("intel-rapl:0:0", "core", 0);
  zone("intel-rapl:0:1", "dram", 0);
  zone("intel-rapl:1", "psys", 0);
  put("enabled", "1");
  PackageEnergy energy(folder_.path());
  energy.look();
  for (const char* name : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:1"})
    put(std::string(name) + "/energy_uj", "3000000");
  EXPECT_DOUBLE_EQ(*energy.look(), 3.0);
}

TEST_F(PackageEnergyTest, WhereACounterCannotBeReadNothingIsTold) {
  zone("intel-rapl:0", "package-0", 1'000'000);
  zone("intel-rapl:1", "package-1", 1'000'000);
  PackageEnergy energy(folder_.path());
  energy.look();
  std::filesystem::remove(folder_.path() / "intel-rapl:1/energy_uj");
  EXPECT_FALSE(energy.look());
  put("intel-rapl:0/energy_uj", "2000000");
  put("intel-rapl:1/energy_uj", "3000000");
  EXPECT_DOUBLE_EQ(*energy.look(), 1.0 + 2.0) << "nothing is lost meanwhile";
  std::filesystem::remove(folder_.path() / "intel-rapl:1/energy_uj");
  PackageEnergy half(folder_.path());
  EXPECT_FALSE(half.look()) << "one package of two is not what the node draws";
  EXPECT_THAT(half.note(), HasSubstr("intel-rapl:1"));
}

TEST_F(PackageEnergyTest, AMachineWithoutCountersSaysSo) {
  EXPECT_FALSE(PackageEnergy(folder_.path()).look());
  EXPECT_THAT(PackageEnergy(folder_.path() / "none").note(), HasSubstr("keeps no counters"));
}

}  // namespace
}  // namespace podium
