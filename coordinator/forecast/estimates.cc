#include "coordinator/forecast/estimates.h"

#include <algorithm>
#include <cmath>

namespace podium {
namespace {

constexpr double kQuickerPace = 0.9;  // of what is left, where steps are counted and all goes well
// How long an overdue job still runs, as a multiple of the time by which it is overdue: a wait of unknown
// scale lasts as long again in half of the cases, and a ninth of that in one of ten (Gott, Nature 363, 1993).
constexpr double kAgain = 1.0, kQuickestAgain = 1.0 / 9;

Duration part(Duration whole, double fraction) {
  return Duration(std::llround(static_cast<double>(whole.count()) * fraction));
}

}  // namespace

WalltimeFractions learn_fractions(const std::vector<EndedRun>& runs) {
  std::vector<double> fractions;
  for (const EndedRun& run : runs)
    if (run.ran > Duration{} && (run.succeeded || run.ran >= run.walltime))
      fractions.push_back(std::chrono::duration<double>(run.ran) / run.walltime);
  if (fractions.size() < kEnoughJobs) return {};
  std::ranges::sort(fractions);
  const auto quantile = [&](std::size_t tenths) {
    return std::clamp(fractions[(fractions.size() - 1) * tenths / 10], 0.0, 1.0);
  };
  return {quantile(5), quantile(1), static_cast<int>(fractions.size())};
}

std::optional<Duration> left_at_pace(const Job& job, const StepsDone& done, Time now) {
  if (!job.attempt || !job.attempt->started) return std::nullopt;
  const std::int64_t first = std::max<std::int64_t>(job.attempt->first_checkpoint, 0);
  const Duration took = done.at - *job.attempt->started;
  if (done.step <= first || done.steps < done.step || took <= Duration{}) return std::nullopt;
  const double pace = static_cast<double>(done.steps - done.step) / static_cast<double>(done.step - first);
  return part(took, pace) - (now - done.at);
}

// A job that is overdue by its pace runs until the end of its walltime at most. A job that has outlived the
// usual fraction runs at most for the default fraction of the rest, and at least for the usual fraction of
// it.
Duration Estimates::left(const Job& job, Outlook outlook, Time now) const {
  const Duration walltime = job.request.walltime;
  const Duration ran = job.attempt ? now - job.attempt->created : Duration{};
  const Duration most = std::max(walltime - ran, Duration{});
  if (outlook == Outlook::latest) return most;
  const bool early = outlook == Outlook::earliest;
  const auto again = [&](Duration overdue) { return part(overdue, early ? kQuickestAgain : kAgain); };
  if (const auto paced = by_pace.find(job.id); paced != by_pace.end()) {
    if (paced->second < Duration{}) return std::min(again(-paced->second), most);
    return std::min(early ? part(paced->second, kQuickerPace) : paced->second, most);
  }
  const double fraction = early ? fractions.earliest : fractions.expected;
  const Duration usual = part(walltime, fraction) - ran;
  if (usual > Duration{}) return usual;
  const double at_most = early ? WalltimeFractions{}.earliest : WalltimeFractions{}.expected;
  const Duration left_over = std::max(part(most, fraction), std::min(again(-usual), part(most, at_most)));
  // Over the quickest tenth's time and within the expected one.
  return early ? std::min(left_over, left(job, Outlook::expected, now)) : left_over;
}

}  // namespace podium
