// A command of the program against a coordinator whose answers are known.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/base/file.h"
#include "tests/cli/fake_coordinator.h"
#include "tests/cli/podium_program.h"

namespace podium {

class Commands : public ::testing::Test {
 protected:
  Commands() {
    program_.environment["PODIUM_COORDINATOR"] = fake_.address();
    const nlohmann::json projection{{"doubt", "its curve has 3 points; 6 are needed"}};
    for (const char* job : {"12", "13"})
      fake_.on("GET /api/v1/jobs/" + std::string(job) + "/projection", projection);
  }

  std::string write(const std::string& name, const std::string& text) {
    write_file_atomic(program_.folder() / name, text);
    return name;
  }

  test::FakeCoordinator fake_;
  test::PodiumProgram program_;
};

}  // namespace podium
