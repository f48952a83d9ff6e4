// The names of foreign metrics against MLflow's rule, written here once more as its documents have it; and the
// patterns of --metric.
#include "cli/metric_name.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "cli/metric_pattern.h"

namespace podium::cli {
namespace {

bool is_valid(const std::string& name) {
  static const std::regex kAllowed(R"([/\w.\- :]+)");
  std::string ascii;  // letters of other scripts are letters
  for (const char c : name) ascii += c < 0 ? 'x' : c;
  const std::string normal = std::filesystem::path(ascii).lexically_normal().string();
  return std::regex_match(ascii, kAllowed) && normal == ascii && !ascii.ends_with('/') && ascii != "." &&
         !ascii.starts_with("..") && !ascii.starts_with("/") && name.size() <= 250;
}

TEST(MetricName, ValidNamesStay) {
  for (const char* name :
       {"loss", "train/loss", "eval/top-1 acc: x", "a.b_c", "Verlust/größe", "...a/b", ".hidden"})
    if (is_valid(name)) {
      EXPECT_EQ(metric_name(name), name);
    }
  EXPECT_TRUE(is_valid("Verlust/größe"));
}

TEST(MetricName, OthersBecomeValid) {
  EXPECT_EQ(metric_name("acc (top1)"), "acc _top1_");
  EXPECT_EQ(metric_name("/a//b/"), "a/b");
  EXPECT_EQ(metric_name("../a/./b/.."), "__/a/_/b/__");
  EXPECT_EQ(metric_name(""), "_");
  EXPECT_EQ(metric_name("\xff\x80"), "__") << "no UTF-8";
  EXPECT_EQ(metric_name("a\nb"), "a_b");
  EXPECT_EQ(metric_name(std::string(249, 'a') + "ö"), std::string(249, 'a')) << "no half of a letter";
  EXPECT_EQ(metric_name(std::string(249, 'a') + "/b"), std::string(249, 'a'));
  const char kParts[] = "a/.\x7f :ö";
  for (unsigned seed = 0; seed < 4096; ++seed) {
    std::string name;
    for (unsigned rest = seed, i = 0; i < 5; ++i, rest /= 8) name += kParts[rest % (sizeof kParts - 1)];
    EXPECT_TRUE(is_valid(metric_name(name))) << name << " became " << metric_name(name);
  }
}

TEST(MetricPattern, StarsAndQuestionMarksAlone) {
  for (const auto& [pattern, name] : {std::pair{"*", ""}, {"*", "a/b"}, {"a*", "a"}, {"a*c", "abc"}, {"a?c", "abc"},
                                      {"*/loss", "train/eval/loss"}, {"*a*b", "xaabb"}, {"**", "x"}, {"gpu[0]/util", "gpu[0]/util"},
                                      {"a\\b", "a\\b"}})
    EXPECT_TRUE(matches_pattern(pattern, name)) << pattern << " " << name;
  for (const auto& [pattern, name] : {std::pair{"", "a"}, {"a", ""}, {"a", "ab"}, {"a?", "a"}, {"*b", "ba"}, {"a*c", "acb"},
                                      {"gpu[0]/util", "gpu0/util"}, {"?", ""}})
    EXPECT_FALSE(matches_pattern(pattern, name)) << pattern << " " << name;
  EXPECT_TRUE(is_chosen("x", {}));
  EXPECT_TRUE(is_chosen("x", {"y", "x"}));
  EXPECT_FALSE(is_chosen("x", {"y", "z"}));
}

}  // namespace
}  // namespace podium::cli
