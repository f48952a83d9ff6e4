// The shared cases: every good file and every config loads and normalises to itself; every bad file gets
// exactly the problems written beside it.
#include <gtest/gtest.h>

#include "common/base/file.h"
#include "common/spec/load.h"
#include "tests/common/spec/files.h"

namespace podium {
namespace {

using nlohmann::json;

std::vector<std::filesystem::path> valid_files() {
  auto files = test::yaml_files("schemas/cases/good");
  for (const auto& file : test::yaml_files("configs")) files.push_back(file);
  return files;
}

std::vector<json> jobs_json(const LoadedExperiment& loaded) {
  std::vector<json> jobs;
  for (const JobSpec& job : loaded.jobs) jobs.push_back(to_json(job));
  return jobs;
}

TEST(SpecCases, GoodFilesAndConfigsLoad) {
  ASSERT_GE(valid_files().size(), 10u);
  for (const auto& file : valid_files()) {
    const auto loaded = load_experiment(read_file(file), file.filename().string());
    EXPECT_TRUE(loaded.ok()) << describe(loaded.errors());
  }
}

TEST(SpecCases, NormalisingTwiceChangesNothing) {
  for (const auto& file : valid_files()) {
    const auto once = load_experiment(read_file(file), "once");
    ASSERT_TRUE(once.ok()) << describe(once.errors());
    const auto twice = load_experiment(once->normalised.dump(2), "twice");
    ASSERT_TRUE(twice.ok()) << file << "\n" << describe(twice.errors());
    EXPECT_EQ(once->normalised, twice->normalised) << file;
    EXPECT_EQ(jobs_json(*once), jobs_json(*twice)) << file;
  }
}

TEST(SpecCases, EveryJobOfAnExperimentIsItselfASpec) {
  for (const auto& file : valid_files()) {
    const auto loaded = load_experiment(read_file(file), "file");
    ASSERT_TRUE(loaded.ok()) << describe(loaded.errors());
    for (std::size_t i = 0; i < loaded->jobs.size(); ++i) {
      JobSpec job = loaded->jobs[i];
      if (loaded->listed()) link(job, loaded->links[i], JobId{100});  // as once it is submitted
      EXPECT_EQ(to_json(job_spec_from_json(to_json(job))), to_json(job)) << file;
      const auto alone = load_experiment(to_json(job).dump(), "job");
      ASSERT_TRUE(alone.ok()) << describe(alone.errors());
      EXPECT_EQ(alone->normalised, to_json(job)) << file;
    }
  }
}

TEST(SpecCases, BadFilesGetAllTheirProblems) {
  const auto files = test::yaml_files("schemas/cases/bad");
  ASSERT_GE(files.size(), 20u);
  for (const auto& file : files) {
    const auto loaded = load_experiment(read_file(file), file.filename().string());
    ASSERT_FALSE(loaded.ok()) << file;
    const std::string expected = read_file(std::filesystem::path(file).replace_extension(".expected"));
    EXPECT_EQ(describe(loaded.errors()) + "\n", expected) << file;
  }
}

}  // namespace
}  // namespace podium
