// A part of a long curve, thinned: what is shown are points of it, in order, from the first to the last of
// the part, and no spike and no break is lost, however much of it is read as roll-ups.
#include <cmath>
#include <random>

#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

constexpr std::int64_t kCount = 400'000;

class SeriesWindow : public testing::Test {
 protected:
  // Steps two apart, so that ranges may begin between them.
  static void SetUpTestSuite() {
    home_ = std::make_unique<TempFolder>();
    all_ = std::make_unique<Series>();
    Store store(home_->path(), at_once());
    start_job(store);
    std::mt19937_64 random(1);
    std::string text;
    std::int64_t offset = 0;
    for (std::int64_t i = 0; i < kCount; ++i) {
      double value = std::round(1e6 * (2 + std::sin(static_cast<double>(i) / 5e4)) +
                                static_cast<double>(random() % 1000)) /
                     1e6;
      if (random() % 30'000 == 0) value += random() % 2 == 0 ? 50 : -50;
      value = std::stod(std::to_string(value));  // as the line tells it
      all_->push_back({2 * i, from_millis(1'700'000'000'000 + 200 * i), value});
      text += metrics_line(2 * i, value);
      if (i % 30'000 != 29'999 && i + 1 != kCount) continue;
      ASSERT_TRUE(ingest_now(store, chunk(1, offset, text)).ok());
      offset += std::ssize(text);
      text.clear();
    }
  }
  static void TearDownTestSuite() {
    all_.reset();
    home_.reset();
  }

  static Series part(std::int64_t first, std::int64_t last) {
    Series points;
    for (const SeriesPoint& point : *all_)
      if (first <= point.step && point.step <= last) points.push_back(point);
    return points;
  }

  static inline std::unique_ptr<TempFolder> home_;
  static inline std::unique_ptr<Series> all_;
};

TEST_F(SeriesWindow, ShowsEveryPartOfTheCurve) {
  Reader reader(home_->path());
  std::mt19937_64 random(2);
  for (int i = 0; i < 60; ++i) {
    const auto first = static_cast<std::int64_t>(random() % (2 * kCount));
    const auto last = first + static_cast<std::int64_t>(random() % (i % 3 == 0 ? 2 * kCount : 20'000));
    const int wanted = i % 2 == 0 ? 1000 : 60;
    const Series whole = part(first, last);
    const Series shown = reader.series({1}, "train/loss", wanted, {first, last}).points;
    ASSERT_EQ(shown.empty(), whole.empty());
    if (whole.empty()) continue;
    SCOPED_TRACE(testing::Message() << first << " to " << last << ", " << wanted);
    EXPECT_LE(shown.size(), static_cast<std::size_t>(wanted) + 2);
    EXPECT_EQ(shown.front(), whole.front());
    EXPECT_EQ(shown.back(), whole.back());
    if (std::ssize(whole) > wanted) {
      EXPECT_GE(std::ssize(shown), wanted / 3);
    }
    EXPECT_TRUE(std::ranges::includes(whole, shown, {}, &SeriesPoint::step, &SeriesPoint::step));
    for (const SeriesPoint& point : shown)
      EXPECT_EQ(point, (*all_)[static_cast<std::size_t>(point.step / 2)]);
    for (const SeriesPoint& point : whole) {
      if (wanted < 1000 || std::abs(point.value - 2) < 20) continue;  // of two in a bucket one is shown
      EXPECT_TRUE(std::ranges::binary_search(shown, point.step, {}, &SeriesPoint::step))
          << "the spike at " << point.step;
    }
  }
}

TEST_F(SeriesWindow, IsAllOfItWhereItIsShort) {
  Reader reader(home_->path());
  EXPECT_EQ(reader.series({1}, "train/loss", 1000, {8191, 8300}).points, part(8191, 8300))
      << "over the end of a chunk";
  EXPECT_EQ(reader.series({1}, "train/loss", 1000, {2 * kCount - 10, INT64_MAX}).points,
            part(2 * kCount - 10, INT64_MAX));
  EXPECT_TRUE(reader.series({1}, "train/loss", 1000, {2 * kCount, INT64_MAX}).points.empty());
  EXPECT_TRUE(reader.series({1}, "train/loss", 1000, {50, 49}).points.empty());
  EXPECT_TRUE(reader.series({1}, "train/loss", 1000, {49, 49}).points.empty());
}

}  // namespace
}  // namespace podium
