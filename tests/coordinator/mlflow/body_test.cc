// What clients send that is no JSON object, and what they are told.
#include "coordinator/mlflow/body.h"

#include <gmock/gmock.h>

namespace podium::mlflow {
namespace {

using testing::HasSubstr;

std::string told(std::string_view body, std::string_view encoding = "") {
  const auto read = read_body(body, encoding);
  return read ? "read" : describe(read.errors());
}

TEST(MlflowBody, IsAJsonObject) {
  EXPECT_EQ(read_body("", "").value(), nlohmann::json::object());
  EXPECT_EQ(read_body(R"({"a": "NaN [[", "b": [1]})", "identity").value()["b"][0], 1);
  EXPECT_EQ(told("[1]"), "the body must be a JSON object, not array");
}

TEST(MlflowBody, NumbersThatAreNoneAreTexts) {
  for (const std::string word : {"NaN", "Infinity", "-Infinity"}) {
    EXPECT_THAT(told("{\"value\": " + word + "}"), AllOf(HasSubstr("the body is no JSON: " + word),
                                                         HasSubstr("write it as text, \"" + word + "\"")));
    EXPECT_EQ(told("{\"value\": \"" + word + "\"}"), "read");
  }
  EXPECT_THAT(told("{\"value\": Nine}"), HasSubstr("no JSON from byte"));
  EXPECT_THAT(told("{\"value\": 1e999}"), HasSubstr("no JSON that is read here"));
}

TEST(MlflowBody, SaysWhereItIsBroken) {
  EXPECT_EQ(told(R"({"key": "loss", "value" 1})"),
            R"(the body is no JSON from byte 25 on, behind '": "loss", "value" 1')");
  EXPECT_THAT(told("{"), HasSubstr("from byte 2 on, behind '{'"));
  EXPECT_THAT(told("-"), HasSubstr("no JSON"));
  EXPECT_EQ(told("{\"\xc3\xa4\n"),
            "the body is no JSON from byte 5 on, behind '{\"?"
            "?"
            "?'");
}

TEST(MlflowBody, IsNeitherPackedNorOfAnotherCharacterSet) {
  EXPECT_THAT(told("{}", "gzip"), HasSubstr("Content-Encoding gzip"));
  EXPECT_EQ(told("{\"key\": \"\xe4\"}"), "the body is not UTF-8");
}

TEST(MlflowBody, IsNotDeep) {
  const auto nested = [](std::size_t levels) {
    return "{\"a\": " + std::string(levels, '[') + std::string(levels, ']') + "}";
  };
  EXPECT_EQ(told(nested(31)), "read");
  EXPECT_EQ(told(nested(32)), "the body has more than 32 lists and objects within each other");
}

}  // namespace
}  // namespace podium::mlflow
