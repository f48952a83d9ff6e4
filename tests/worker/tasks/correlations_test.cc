// Against numpy (correlations_reference.py) on random values with and without ties, and where nothing
// correlates.
#include "worker/tasks/classify/correlations.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"
#include "worker/tasks/classify/class_scores.h"

namespace podium {
namespace {

using testing::ElementsAre;

struct Case {
  std::string kind;
  std::vector<double> a, b;

  double ours() const {
    if (kind == "pearson") return pearson_correlation(a, b);
    if (kind == "spearman") return spearman_correlation(a, b);
    std::vector<double> counts(10 * kCountsOfClass, 0.0);
    for (std::size_t i = 0; i < a.size(); ++i)
      count_class(counts, static_cast<std::int32_t>(a[i]), static_cast<std::int32_t>(b[i]));
    return matthews_correlation(counts);
  }
};

// `steps` > 0: so many different values, so that there are ties.
Case random_case(const std::string& kind, int steps, std::mt19937& random) {
  std::normal_distribution<double> normal;
  Case made{kind, {}, {}};
  for (int i = 0; i < 200; ++i) {
    const double x = normal(random), y = 0.6 * x + normal(random) + 1000;
    const auto cut = [&](double v) {
      return steps == 0 ? v : std::clamp(std::floor(v * steps / 6 + steps / 2.0), 0.0, steps - 1.0);
    };
    made.a.push_back(cut(x));
    made.b.push_back(cut(steps == 0 ? y : y - 1000));
  }
  return made;
}

TEST(Correlations, AreNumpys) {
  std::mt19937 random(7);
  std::vector<Case> cases;
  for (const auto& [kind, steps] : {std::pair("pearson", 0),
                                    {"pearson", 5},
                                    {"spearman", 0},
                                    {"spearman", 5},
                                    {"spearman", 2},
                                    {"matthews", 2},
                                    {"matthews", 3},
                                    {"matthews", 9}})
    for (int i = 0; i < 5; ++i) cases.push_back(random_case(kind, steps, random));
  const TempFolder folder;
  std::string lines;
  for (const Case& one : cases)
    lines += nlohmann::json{{"kind", one.kind}, {"a", one.a}, {"b", one.b}}.dump() + "\n";
  write_file_atomic(folder.path() / "cases", lines);
  const std::string command = "/usr/bin/python3 " +
                              test::source_path("tests/worker/tasks/correlations_reference.py ") +
                              (folder.path() / "cases").string() + " > " + (folder.path() / "out").string();
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status == 77) GTEST_SKIP() << "skipped: /usr/bin/python3 has no numpy";
  ASSERT_EQ(status, 0);
  std::istringstream out(read_file(folder.path() / "out"));
  for (const Case& one : cases) {
    double expected = 0;
    out >> expected;
    EXPECT_NEAR(one.ours(), expected, 1e-12) << one.kind;
  }
}

TEST(Correlations, EqualValuesShareTheMeanOfTheirRanks) {
  EXPECT_THAT(ranks_of(std::vector<double>{3, 1, 3, 2, 3}), ElementsAre(4, 1, 4, 2, 4));
  EXPECT_THAT(ranks_of(std::vector<double>{}), ElementsAre());
}

TEST(Correlations, AreNoneOfWhatIsAllTheSameOrNotFinite) {
  const std::vector<double> some{1, 2, 3}, same{2, 2, 2}, none{};
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const std::vector<double> broken{1, bad, 3};
    EXPECT_EQ(pearson_correlation(some, broken), 0);
    EXPECT_EQ(spearman_correlation(broken, some), 0);
  }
  EXPECT_EQ(pearson_correlation(some, same), 0);
  EXPECT_EQ(spearman_correlation(same, some), 0);
  EXPECT_EQ(pearson_correlation(none, none), 0);
  EXPECT_DOUBLE_EQ(spearman_correlation(some, std::vector<double>{1, 10, 100}), 1);
  EXPECT_DOUBLE_EQ(pearson_correlation(some, std::vector<double>{-1, -2, -3}), -1);
}

}  // namespace
}  // namespace podium
