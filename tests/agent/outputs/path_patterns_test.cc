// Which paths globs name; of the parts of names beside fnmatch(3).
#include "agent/outputs/path_patterns.h"

#include <fnmatch.h>
#include <gmock/gmock.h>

#include <random>
#include <sstream>

namespace podium {
namespace {

// As a walk would find the file.
bool names(const std::vector<std::string>& globs, const std::string& path) {
  const PathPatterns patterns(globs);
  PathPatterns::Place place = patterns.top();
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '/');) {
    if (!place.leads_on()) return false;
    place = patterns.below(place, part);
  }
  return place.named;
}

TEST(PathPatterns, NameFilesByTheirParts) {
  EXPECT_TRUE(names({"model.pt"}, "model.pt"));
  EXPECT_FALSE(names({"model.pt"}, "a/model.pt"));
  EXPECT_TRUE(names({"*.pt"}, "model.pt"));
  EXPECT_FALSE(names({"*.pt"}, "a/model.pt"));
  EXPECT_TRUE(names({"*/model.pt"}, "a/model.pt"));
  EXPECT_TRUE(names({"./a//model.pt"}, "a/model.pt"));
  EXPECT_TRUE(names({"x", "step-[0-9]"}, "step-7"));
  EXPECT_FALSE(names({}, "a"));
}

TEST(PathPatterns, NameAnyFoldersByTwoStars) {
  EXPECT_TRUE(names({"**/*.pt"}, "model.pt"));
  EXPECT_TRUE(names({"**/*.pt"}, "a/b/model.pt"));
  EXPECT_FALSE(names({"**/*.pt"}, "a/b/model.bin"));
  EXPECT_TRUE(names({"a/**/z"}, "a/z"));
  EXPECT_TRUE(names({"a/**/z"}, "a/b/c/z"));
  EXPECT_TRUE(names({"a/**/b/**/z"}, "a/x/b/y/z"));
  EXPECT_FALSE(names({"a/**/b/**/z"}, "a/x/z"));
  EXPECT_TRUE(names({"results/**"}, "results/a/b"));
  EXPECT_TRUE(names({"**"}, "a"));
  EXPECT_TRUE(names({"**/**"}, "a"));
  EXPECT_FALSE(names({"results/**"}, "other/a"));
}

TEST(PathPatterns, TakeAllOfAFolderThatTheyName) {
  EXPECT_TRUE(names({"results"}, "results/a/.hidden/b"));
  EXPECT_TRUE(names({"res*"}, "results/a"));
  EXPECT_TRUE(names({"results/"}, "results/a"));
}

TEST(PathPatterns, NameHiddenFilesByADotAlone) {
  EXPECT_FALSE(names({"*"}, ".git"));
  EXPECT_FALSE(names({"**"}, ".git/config"));
  EXPECT_FALSE(names({"**/config"}, ".git/config"));
  EXPECT_FALSE(names({"results/**"}, "results/.cache"));
  EXPECT_FALSE(names({"?git"}, ".git"));
  EXPECT_TRUE(names({".*"}, ".git"));
  EXPECT_TRUE(names({"**/.cache"}, "a/.cache"));
}

TEST(PathPatterns, LeadNowhereWhereNothingIsNamed) {
  const PathPatterns patterns({"results/**", "a/b"});
  EXPECT_FALSE(patterns.below(patterns.top(), "other").leads_on());
  EXPECT_TRUE(patterns.below(patterns.top(), "a").leads_on());
  EXPECT_FALSE(patterns.below(patterns.below(patterns.top(), "a"), "c").leads_on());
}

TEST(PathPatterns, TakeACharacterOfSeveralBytesForOne) {
  EXPECT_TRUE(matches_glob("?.pt", "ü.pt"));
  EXPECT_FALSE(matches_glob("??.pt", "ü.pt"));
}

TEST(PathPatterns, EndSoonOnNamesThatAlmostMatch) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(matches_glob(pattern + "b", std::string(255, 'a')));
}

TEST(PathPatterns, MatchNamesAsFnmatchDoes) {
  std::mt19937 random(1);
  const std::string letters = "ab-]!.";
  const std::string more = "ab-]!.**??[[";
  const auto text = [&](const std::string& of) {
    std::string out;
    for (auto length = random() % 7; length > 0; --length) out += of[random() % of.size()];
    return out;
  };
  int matched = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string pattern = text(more), name = text(letters);
    if (pattern.find("[.") != std::string::npos) continue;  // the beginning of a collating symbol
    const bool expected = ::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
    matched += expected;
    ASSERT_EQ(matches_glob(pattern, name), expected) << pattern << " and " << name;
  }
  EXPECT_GT(matched, 1000);
}

}  // namespace
}  // namespace podium
