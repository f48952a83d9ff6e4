#include "cli/job_curves.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "cli/curves/number_text.h"
#include "cli/fields.h"

namespace podium::cli {
namespace {

using nlohmann::json;

// Where a window has more points than were asked for, the coordinator leaves some out, and answers with about
// half as many as were asked for at least: fewer than this are all there are.
std::uint64_t surely_whole(std::uint64_t asked) { return asked * 9 / 20; }

std::uint64_t distance(std::int64_t from, std::int64_t to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

double value_in(const json& value) {
  return value.is_string() ? value_of(value.get<std::string>()).value_or(0) : value.get<double>();
}

}  // namespace

std::vector<JobMetric> metrics_of(KeptConnection& connection, std::int64_t job) {
  std::vector<JobMetric> metrics;
  const json reply = connection.get(fmt::format("/jobs/{}/metrics", job));
  for (const json& each : reply.at("metrics"))
    metrics.push_back({text_field(each, "key"), each.at("count").get<std::uint64_t>(),
                       integer_field(each, "first_step"), integer_field(each, "last_step"),
                       each.value("lost_points", std::uint64_t{0})});
  return metrics;
}

CurveReader::CurveReader(KeptConnection& connection, std::int64_t job, const JobMetric& metric,
                         std::uint64_t page)
    : connection_(&connection),
      job_(job),
      metric_(metric.name),
      next_step_(metric.first_step),
      last_step_(metric.last_step),
      most_(page) {
  const std::uint64_t pages = std::max<std::uint64_t>(metric.points / surely_whole(most_), 1);
  window_ = std::max(most_, distance(next_step_, last_step_) / pages);
}

std::optional<CurvePoint> CurveReader::next() {
  while (at_ == page_.size())
    if (!turn_page()) return std::nullopt;
  return page_[at_++];
}

bool CurveReader::turn_page() {
  if (done_) return false;
  while (true) {
    const bool is_last = distance(next_step_, last_step_) < window_;
    const std::int64_t until = is_last ? last_step_ : next_step_ + static_cast<std::int64_t>(window_) - 1;
    const json reply =
        connection_->get(fmt::format("/jobs/{}/series", job_), {{"key", metric_},
                                                                {"points", std::to_string(most_)},
                                                                {"first_step", std::to_string(next_step_)},
                                                                {"last_step", std::to_string(until)}});
    const json& points = reply.at("series").at(0).at("points");
    if (points.size() >= surely_whole(most_) && window_ > most_) {  // as many steps have no more points
      window_ = std::max(most_, window_ / 2);
      continue;
    }
    if (points.size() < surely_whole(most_) / 2 && window_ < UINT64_MAX / 4) window_ *= 2;
    page_.clear();
    at_ = 0;
    for (const json& point : points)
      page_.push_back(
          {point.at(0).get<std::int64_t>(), point.at(1).get<std::int64_t>(), value_in(point.at(2))});
    done_ = is_last;
    next_step_ = until + 1;
    return true;
  }
}

}  // namespace podium::cli
