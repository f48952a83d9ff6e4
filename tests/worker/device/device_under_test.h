// The device that a test program is linked for, and contexts for it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "worker/tensor/context.h"
#include "worker/train/job_device.h"

namespace podium::test {

// Throws DeviceUnavailable.
JobDevice open_device_under_test();

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = open_device_under_test();
    } catch (const ops::DeviceUnavailable& reason) {
      if (std::getenv("PODIUM_TEST_GPU")) FAIL() << reason.what();  // tests/gpu/run: there is one
      GTEST_SKIP() << "skipped: no GPU (" << reason.what() << ")";
    }
  }

  Context device_context() const {
    Context context;
    device_.lend_to(context);
    return context;
  }
  static Context cpu_context() { return Context{.threads = 2}; }

  JobDevice device_;
};

}  // namespace podium::test
