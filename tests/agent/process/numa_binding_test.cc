#include "agent/process/numa_binding.h"

#include <gtest/gtest.h>

#include <vector>

namespace podium {
namespace {

std::vector<int> parsed(const char* list) {
  cpu_set_t set;
  std::vector<int> processors;
  if (!parse_cpu_list(list, &set)) return {-1};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) processors.push_back(cpu);
  return processors;
}

TEST(ParseCpuList, ReadsTheKernelsLists) {
  EXPECT_EQ(parsed("0-3,8-9\n"), (std::vector<int>{0, 1, 2, 3, 8, 9}));
  EXPECT_EQ(parsed("5"), (std::vector<int>{5}));
  EXPECT_EQ(parsed("1,3,1023\n"), (std::vector<int>{1, 3, 1023}));
}

TEST(ParseCpuList, RefusesWhatIsNone) {
  for (const char* list : {"", "\n", "a", "1-", "3-1", "-1", "0-1024", "1;2", "2x"})
    EXPECT_EQ(parsed(list), std::vector<int>{-1}) << list;
}

}  // namespace
}  // namespace podium
