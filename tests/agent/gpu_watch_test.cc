#include "agent/gpu_watch.h"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>

#include "tests/agent/device/recording.h"

namespace podium {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class GpuWatchTest : public testing::Test {
 protected:
  GpuWatchTest() { play("dgx-h100"); }

  // Runs the loop until a look was seen that is wanted.
  GpuLook look_that(const std::function<bool(const GpuLook&)>& wanted) {
    GpuLook found;
    wanted_ = [&](const GpuLook& look) {
      if (!wanted(look)) return;
      found = look;
      loop_.stop();
    };
    loop_.restart();
    loop_.run();
    return found;
  }

  std::unique_ptr<GpuWatch> watch(std::chrono::milliseconds silence) {
    return std::make_unique<GpuWatch>(
        loop_.get_executor(), std::make_unique<GpuMonitor>(FAKE_DRIVER_FOLDER "/libnvidia-ml.so.1"),
        [this](const GpuLook& look) { wanted_(look); }, silence);
  }

  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{loop_.get_executor()};
  std::function<void(const GpuLook&)> wanted_;
};

TEST_F(GpuWatchTest, ARequestIsAnsweredByALookThatBeganAfterIt) {
  const auto watch = this->watch(1min);
  look_that([](const GpuLook&) { return true; });
  const std::uint64_t request = watch->request_look();
  EXPECT_EQ(look_that([&](const GpuLook& look) { return look.request >= request; }).gpus.size(), 8U);
}

TEST_F(GpuWatchTest, ADriverThatDoesNotAnswerIsToldOfAndForgottenWhenItDoes) {
  const auto watch = this->watch(50ms);  // the next look comes after 10 s: until then there is silence
  const auto unhealthy = [](const GpuLook& look) { return !look.gpus[0].health.empty(); };
  const GpuLook silent = look_that(unhealthy);
  EXPECT_THAT(silent.gpus[7].health, HasSubstr("the driver has not answered for 50ms"));
  EXPECT_FALSE(silent.gpus[7].reading.temperature);
  watch->request_look();
  EXPECT_EQ(look_that([&](const GpuLook& look) { return !unhealthy(look); }).gpus[0].health, "");
}

TEST_F(GpuWatchTest, NothingIsSeenAfterItsEnd) {
  auto watch = this->watch(1ms);
  look_that([](const GpuLook&) { return true; });
  watch.reset();
  wanted_ = [](const GpuLook&) { FAIL() << "seen after the end"; };
  work_.reset();
  loop_.restart();
  loop_.run();
}

}  // namespace
}  // namespace podium
