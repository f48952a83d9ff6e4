#include "coordinator/tracking/projection.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/model/codec.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kMostPointsOfCurve = 20'000;   // the job's own curve
constexpr int kPointsOfEarlier = 1'000;      // extremes of every bucket among them
constexpr std::size_t kMostEarlierJobs = 4;  // the newest

template <typename T>
json quantiles_json(const Quantiles<T>& quantiles, const auto& value) {
  const auto or_null = [&](const std::optional<T>& q) { return q ? json(value(*q)) : json(nullptr); };
  return {{"p10", or_null(quantiles.p10)}, {"p50", or_null(quantiles.p50)}, {"p90", or_null(quantiles.p90)}};
}

json fan_json(const std::vector<FanPoint>& fan) {
  json points = json::array();
  for (const FanPoint& point : fan)
    points.push_back(
        {point.step, number_to_json(point.p10), number_to_json(point.p50), number_to_json(point.p90)});
  return points;
}

json projection_json(const JobView& job, const Projection& projection) {
  const std::optional<TargetView>& target = job.target;
  return {{"job", job.id.value},
          {"metric", target ? json(target->metric) : json(nullptr)},
          {"step", quantiles_json(projection.step, [](std::int64_t step) { return step; })},
          {"time_ms", quantiles_json(projection.time, [](Time time) { return to_millis(time); })},
          {"reaches", projection.reaches},
          {"ends_ms", projection.ends ? json(to_millis(*projection.ends)) : json(nullptr)},
          {"fan", fan_json(projection.fan)},
          {"doubt", projection.doubt}};
}

// The newest other jobs of its experiment that have such a curve; none where the spec lists its jobs, which
// differ by design.
std::vector<Series> earlier_curves(Reader& reader, const JobView& job) {
  std::vector<Series> curves;
  const std::optional<ExperimentView> experiment = reader.experiment(job.experiment);
  if (!experiment || experiment->listed) return curves;
  std::vector<JobId> others = experiment->jobs;
  std::erase_if(others, [&](JobId other) { return !(other < job.id); });
  std::ranges::sort(others, std::ranges::greater{});
  others.resize(std::min(others.size(), kMostEarlierJobs));
  for (const JobId other : others)
    if (Series curve = reader.series(other, job.target->metric, kPointsOfEarlier).points; !curve.empty())
      curves.push_back(std::move(curve));
  return curves;
}

std::string nothing_to_foretell(const JobView& job) {
  if (!job.target) return "it has no target";
  if (job.target->reached) return "it has reached its target";
  if (is_terminal(job.state)) return "it has ended";
  return "";
}

// On the pool's thread: the fits take some milliseconds.
std::optional<ServerReply> read_projection(Reader& reader, JobId id) {
  const std::optional<JobView> job = reader.job(id);
  if (!job) return std::nullopt;
  Projection projection;
  projection.doubt = nothing_to_foretell(*job);
  if (projection.doubt.empty()) {
    const TargetView& target = *job->target;
    projection = project({.curve = reader.series(id, target.metric, kMostPointsOfCurve).points,
                          .target = target.at_least ? *target.at_least : target.at_most.value_or(0),
                          .at_least = target.at_least.has_value(),
                          .steps = job->progress ? job->progress->steps : 0,
                          .earlier = earlier_curves(reader, *job)});
  }
  return json_reply(200, projection_json(*job, projection));
}

}  // namespace

awaitable<ServerReply> get_projection(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  std::optional<ServerReply> reply =
      co_await api.pool.read([id](Reader& reader) { return read_projection(reader, *id); });
  if (!reply) co_return no_such(call, "job", call.path[0]);
  co_return std::move(*reply);
}

}  // namespace podium
