#include "agent/process/fence_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

TEST(FenceFile, KeepsTheHighestAttemptOfEachJob) {
  const TempFolder home;
  HomeRoom room(home.path(), 0);
  Fences fences = read_fences(home.path());
  EXPECT_TRUE(fences.empty());
  raise_fence(room, fences, {{7}, 2});
  raise_fence(room, fences, {{7}, 1});
  raise_fence(room, fences, {{9}, 4});
  EXPECT_EQ(fences, (Fences{{{7}, 2}, {{9}, 4}}));
  EXPECT_EQ(read_fences(home.path()), fences);
}

TEST(FenceFile, DamageIsNotTakenForNoFences) {
  const TempFolder home;
  write_file_atomic(home.path() / "fences.json", "{\"version\":1,\"jo");
  EXPECT_THAT([&] { read_fences(home.path()); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("fences.json is damaged")));
}

}  // namespace
}  // namespace podium
