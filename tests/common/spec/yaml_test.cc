// YAML scalars by the 1.2 core schema, and the limits on what a document may cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/spec/load.h"
#include "common/spec/yaml_document.h"
#include "common/spec/yaml_scalar.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(YamlScalar, FollowsTheCoreSchema) {
  const std::vector<std::pair<const char*, json>> cases = {
      {"", nullptr},      {"~", nullptr},
      {"null", nullptr},  {"true", true},
      {"False", false},   {"yes", "yes"},
      {"on", "on"},       {"0", 0},
      {"-7", -7},         {"+7", 7},
      {"007", 7},         {"0x1F", 31},
      {"0o17", 15},       {"18446744073709551615", 18446744073709551615u},
      {"1.5", 1.5},       {".5", 0.5},
      {"1.", 1.0},        {"-1e-3", -0.001},
      {"6.0e-3", 0.006},  {"1E5", 1e5},
      {"1_000", "1_000"}, {"1e", "1e"},
      {"--1", "--1"},     {"+-1", "+-1"},
      {"-", "-"},         {"+", "+"},
      {".", "."},         {"e5", "e5"},
      {"1:30", "1:30"},   {"0x", "0x"},
      {"0xZZ", "0xZZ"},   {"72h", "72h"},
      {"inf", "inf"},     {"nan", "nan"}};
  for (const auto& [text, value] : cases) EXPECT_EQ(plain_scalar(text), value) << text;
}

TEST(YamlScalar, RefusesWhatJsonCannotHold) {
  for (const char* text : {".inf", "-.Inf", ".nan", "1e999", "-1e999"})
    EXPECT_EQ(plain_scalar(text), std::nullopt) << text;
  EXPECT_EQ(plain_scalar("99999999999999999999999"), json(1e23));
}

std::optional<json> read(std::string_view text) {
  SourceMap places;
  Problems problems("t", places);
  auto value = read_yaml(text, places, problems);
  return problems.empty() ? value : std::nullopt;
}

TEST(YamlDocument, QuotesMakeText) {
  EXPECT_EQ(read("a: \"1\"\nb: '~'\nc: 1\n"), (json{{"a", "1"}, {"b", "~"}, {"c", 1}}));
}

TEST(YamlDocument, MergesDoNotOverwrite) {
  EXPECT_EQ(read("x: &x {a: 1, b: 2}\ny: {b: 3, <<: *x}\n")->at("y"), (json{{"a", 1}, {"b", 3}}));
}

TEST(YamlDocument, DepthAndSizeAreBounded) {
  const auto nested = [](int depth) {
    return "a: " + std::string(depth, '[') + std::string(depth, ']') + "\n";
  };
  EXPECT_TRUE(read(nested(kMaxYamlDepth - 1)).has_value());
  EXPECT_FALSE(read(nested(kMaxYamlDepth)).has_value());
  EXPECT_FALSE(read(nested(100'000)).has_value());
  EXPECT_TRUE(read("a: " + std::string(kMaxYamlScalarBytes, 'x')).has_value());
  EXPECT_FALSE(read("a: " + std::string(kMaxYamlScalarBytes + 1, 'x')).has_value());
}

TEST(YamlDocument, TheLongestTextStaysWithinTheStack) {
  // std::regex recurses once a character, and valijson matches every pattern whatever the text's length.
  const std::string longest(kMaxYamlScalarBytes, '1');
  const auto loaded = load_experiment("name: " + longest + "\ncheckpoint: {every: \"" + longest +
                                          "\"}\nresources: {walltime: \"" + longest + "\"}\n",
                                      "t");
  EXPECT_THAT(describe(loaded.errors()),
              HasSubstr("checkpoint.every must have at most 40 characters, not 4096"));
}

}  // namespace
}  // namespace podium
