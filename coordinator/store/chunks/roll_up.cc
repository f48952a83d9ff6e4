#include "coordinator/store/chunks/roll_up.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "coordinator/store/chunks/bytes.h"
#include "coordinator/store/chunks/codec.h"
#include "coordinator/store/chunks/integers.h"
#include "coordinator/store/chunks/values.h"

namespace podium {
namespace {

constexpr std::uint8_t kRunsVersion = 1;

using Mark = std::optional<StoredPoint> RollUp::*;

// The points of `mark` that there are: steps and times, and the values unless they are NaN.
void put_marks(std::span<const RollUp> runs, Mark mark, bool with_values, std::string& out) {
  std::vector<std::int64_t> steps, times;
  std::vector<double> values;
  for (const RollUp& run : runs) {
    if (!(run.*mark)) continue;
    steps.push_back((run.*mark)->step);
    times.push_back((run.*mark)->time_ms);
    values.push_back((run.*mark)->value);
  }
  pack_integers(steps, out);
  pack_integers(times, out);
  if (with_values) pack_values(values, out);
}

void take_marks(ByteReader& in, std::vector<RollUp>& runs, Mark mark, bool with_values) {
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(runs, [&](const RollUp& run) { return (run.*mark).has_value(); }));
  const auto steps = unpack_integers(in, count);
  const auto times = unpack_integers(in, count);
  const auto values =
      with_values ? unpack_values(in, count) : std::vector(count, std::numeric_limits<double>::quiet_NaN());
  std::size_t at = 0;
  for (RollUp& run : runs) {
    if (!(run.*mark)) continue;
    run.*mark = StoredPoint{steps[at], times[at], values[at], 0};
    ++at;
  }
}

std::vector<std::int64_t> column(std::span<const RollUp> runs, std::int64_t RollUp::*member) {
  std::vector<std::int64_t> all;
  for (const RollUp& run : runs) all.push_back(run.*member);
  return all;
}

// With the mantissa of a float, and the range of a double.
double as_float(double sum) {
  constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29) - 1;
  if (!std::isfinite(sum)) return sum;
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(sum) + kDropped / 2) & ~kDropped);
}

StoredPoint without_attempt(StoredPoint point) {
  point.attempt = 0;
  return point;
}

}  // namespace

RollUp roll_up(std::span<const StoredPoint> points) {
  RollUp run;
  const StoredPoint *low = nullptr, *high = nullptr, *broken = nullptr;
  for (const StoredPoint& point : points) {
    if (std::isnan(point.value)) {
      if (!broken) broken = &point;
      continue;
    }
    ++run.numbers;
    run.sum += point.value;
    if (!low || point.value < low->value) low = &point;
    if (!high || point.value > high->value) high = &point;
  }
  run.sum = as_float(run.sum);
  run.points = std::ssize(points);
  if (low) run.low = without_attempt(*low);
  if (high) run.high = without_attempt(*high);
  if (broken) run.broken = without_attempt(*broken);
  return run;
}

std::vector<RollUp> roll_ups(std::span<const StoredPoint> points, std::size_t each) {
  std::vector<RollUp> runs;
  for (; !points.empty(); points = points.subspan(std::min(each, points.size())))
    runs.push_back(roll_up(points.first(std::min(each, points.size()))));
  return runs;
}

std::vector<RollUp> joined(std::span<const RollUp> runs, std::size_t each) {
  std::vector<RollUp> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RollUp& run = runs[i];
    RollUp& into = i % each == 0 ? all.emplace_back() : all.back();
    into.points += run.points;
    into.numbers += run.numbers;
    into.sum = as_float(into.sum + run.sum);
    if (run.low && (!into.low || run.low->value < into.low->value)) into.low = run.low;
    if (run.high && (!into.high || run.high->value > into.high->value)) into.high = run.high;
    if (!into.broken) into.broken = run.broken;
  }
  return all;
}

std::string encode_roll_ups(std::span<const RollUp> runs) {
  PODIUM_CHECK(!runs.empty() && runs.size() <= kPointsInBlock, "a chunk has 1 to 64 blocks");
  std::string columns;
  pack_integers(column(runs, &RollUp::points), columns);
  pack_integers(column(runs, &RollUp::numbers), columns);
  std::vector<double> sums;
  for (const RollUp& run : runs) sums.push_back(run.sum);
  pack_values(sums, columns);
  put_marks(runs, &RollUp::low, true, columns);
  put_marks(runs, &RollUp::high, true, columns);
  put_marks(runs, &RollUp::broken, false, columns);
  return framed(kRunsVersion, runs.size(), columns);
}

Result<std::vector<RollUp>> decode_roll_ups(std::string_view bytes) {
  const Result<Frame> frame = unframed(kRunsVersion, kPointsInBlock, bytes);
  if (!frame) return frame.errors();
  ByteReader in(frame->columns);
  std::vector<RollUp> runs(frame->count);
  const auto points = unpack_integers(in, runs.size());
  const auto numbers = unpack_integers(in, runs.size());
  const auto sums = unpack_values(in, runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i] = {points[i], numbers[i], sums[i], {}, {}, {}};
    if (numbers[i] > 0) runs[i].low.emplace(), runs[i].high.emplace();
    if (numbers[i] < points[i]) runs[i].broken.emplace();
  }
  take_marks(in, runs, &RollUp::low, true);
  take_marks(in, runs, &RollUp::high, true);
  take_marks(in, runs, &RollUp::broken, false);
  if (!in.whole() || !in.at_end()) return damaged("a column of roll-ups is cut off or makes no sense");
  return runs;
}

}  // namespace podium
