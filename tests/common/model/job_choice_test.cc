#include "common/model/job_choice.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace podium {
namespace {

TEST(JobChoice, ReadsStates) {
  const std::vector<JobState> both{JobState::queued, JobState::running};
  EXPECT_EQ(job_states_from("queued,running"), both);
  EXPECT_EQ(job_states_from("queued,,running,"), both);
  for (const char* wrong : {"queued,bogus", "Queued", "queued running", "", ","})
    EXPECT_THROW(job_states_from(wrong), std::invalid_argument) << wrong;
}

TEST(JobChoice, ReadsLabels) {
  EXPECT_EQ(label_from("team=nlp"), std::pair(std::string("team"), std::string("nlp")));
  EXPECT_EQ(label_from("url:http://a=b"), std::pair(std::string("url"), std::string("http://a=b")));
  EXPECT_EQ(label_from("gone="), std::pair(std::string("gone"), std::string()));
  for (const char* wrong : {"", "team", "=nlp"})
    EXPECT_THROW(label_from(wrong), std::invalid_argument) << wrong;
}

}  // namespace
}  // namespace podium
