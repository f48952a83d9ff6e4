#include "agent/device/gpu_health.h"

#include <gmock/gmock.h>

namespace podium {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(JudgeGpu, SaysNothingOfAHealthyOne) { EXPECT_EQ(judge_gpu({}, 0), ""); }

TEST(JudgeGpu, NamesWhatIsWrongAndWhatToDo) {
  EXPECT_EQ(judge_gpu({.uncorrected_errors = 2}, 3),
            "2 uncorrected memory error(s) since the driver was loaded: stop podium-agent, reset the GPU "
            "(nvidia-smi --gpu-reset -i 3), start podium-agent");
  EXPECT_THAT(judge_gpu({.repair_pending = true}, 1),
              AllOf(HasSubstr("waits for a reset"), HasSubstr("-i 1)")));
  EXPECT_THAT(judge_gpu({.repair_pending = true, .repair_failed = true}, 1), HasSubstr("replaced"));
  EXPECT_THAT(judge_gpu({.reset_required = true}, 1), HasSubstr("the driver asks for a reset"));
  EXPECT_THAT(judge_gpu({.unreachable = "GPU is lost"}, 1),
              AllOf(HasSubstr("GPU is lost"), HasSubstr("restart the node")));
}

TEST(JudgeGpu, CriticalXidsGoFirst) {
  EXPECT_THAT(judge_gpu({.unreachable = "GPU is lost", .critical_xid = 79}, 0),
              AllOf(HasSubstr("XID 79 (the GPU has fallen off the bus)"), HasSubstr("restart the node")));
  EXPECT_THAT(judge_gpu({.uncorrected_errors = 1, .critical_xid = 95}, 0),
              AllOf(HasSubstr("XID 95 (uncontained memory error)"), HasSubstr("reset")));
}

TEST(CriticalXids, AreThoseOfTheDeviceNotOfPrograms) {
  for (const int xid : {48, 63, 64, 74, 79, 94, 95}) EXPECT_TRUE(is_critical_xid(xid)) << xid;
  for (const int xid : {0, 13, 31, 43, 45, 68}) EXPECT_FALSE(is_critical_xid(xid)) << xid;
}

}  // namespace
}  // namespace podium
