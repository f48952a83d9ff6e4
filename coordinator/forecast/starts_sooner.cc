// starts_sooner: one change of the request at a time, tried on a copy of the state.
#include <algorithm>
#include <array>

#include "common/base/check.h"
#include "common/base/units.h"
#include "coordinator/core/events/keep_indexes.h"
#include "coordinator/core/placement/placement.h"
#include "coordinator/core/plan/why.h"
#include "coordinator/core/policies/policy.h"
#include "coordinator/core/state/pools.h"
#include "coordinator/forecast/start_forecast.h"

namespace podium {
namespace {

constexpr int kHighestPriority = 100;
constexpr int kMostSmallerGangs = 256;  // smaller gangs that are looked at
constexpr Duration kShortestWalltime = std::chrono::minutes(1);
constexpr Duration kWorthwhile = std::chrono::minutes(1);  // sooner than this is not worth a change

using std::chrono::floor;
using std::chrono::seconds;

class Search {
 public:
  Search(const ClusterState& state, Time now, JobId id, std::optional<Time> no_later,
         const Estimates& estimates, const MayAsk& may_ask, const ForecastBounds& bounds)
      : state_(state),
        now_(now),
        id_(id),
        original_(state.jobs.at(id).request),
        submitted_(state.jobs.at(id).submitted),
        no_later_(no_later),
        estimates_(estimates),
        may_ask_(may_ask),
        bounds_(bounds) {
    if (no_later) bounds_.horizon = std::min(bounds_.horizon, *no_later - now);
  }

  std::vector<Sooner> run() {
    if (state_.jobs.at(id_).held) {
      released();
    } else if (state_.jobs.at(id_).paused) {
      return {};  // only what other trials tell, or its service's load, lets it go on
    } else if (!original_.after.empty()) {
      at_once();
    } else {
      higher_priority();
      fewer_devices();
      over_more_nodes();
      shorter();
      fewer_labels();
      further_apart();
    }
    return std::move(found_);
  }

 private:
  enum class By { change, submission };  // of the job as it waits; of a new one

  void become(const JobRequest& request, By by) {
    Job& job = state_.jobs.at(id_);
    join_pool(state_, request);
    leave_indexes(state_, job);
    leave_pool(state_, job.request);
    job.request = request;
    job.submitted = by == By::submission ? now_ : submitted_;
    enter_indexes(state_, job);
  }

  // Whether the next plan would start it.
  bool starts_now(const JobRequest& request, bool& backfill, By by = By::submission) {
    become(request, by);
    const Plan plan = make_plan(state_, now_);
    const auto start = std::ranges::find(plan.start, id_, &Start::job);
    if (start == plan.start.end()) return false;
    backfill = start->backfilled;
    return true;
  }

  // Takes the change if it starts the job sooner; `what` names it: "with 4 devices".
  bool add(const std::string& change, const JobRequest& request, const std::string& what,
           By by = By::submission) {
    const bool anew = by == By::submission;
    Sooner sooner{change, request, now_, false, anew, (anew ? "submitted again " : "") + what};
    if (!starts_now(request, sooner.backfill, by)) {
      const auto at = forecast_start(state_, now_, id_, estimates_, Outlook::expected, bounds_).at;
      if (!at) return false;
      sooner.at = *at;
    }
    if (no_later_ && *no_later_ - sooner.at < kWorthwhile) return false;
    sooner.sentence += sooner.at > now_  ? ": in about " + about(sooner.at - now_)
                       : sooner.backfill ? ": at once, by backfill"
                                         : ": at once";
    found_.push_back(std::move(sooner));
    return true;
  }

  std::string sized(const JobRequest& request) const {
    std::string text =
        "with " + std::to_string(request.devices) + (request.devices == 1 ? " device" : " devices");
    if (request.per_node == 0 || request.per_node >= request.devices) return text;
    const int nodes = request.devices / request.per_node;
    return "with " + std::to_string(nodes) + (nodes == 1 ? " node" : " nodes") + " of " +
           std::to_string(request.per_node) + (request.per_node == 1 ? " device" : " devices");
  }

  // The largest smaller gang that starts now; where none does, the largest of at most half the size.
  void fewer_devices() {
    std::optional<JobRequest> half;
    int asked = 0;
    for (int devices = original_.devices - 1; devices > 0 && asked < kMostSmallerGangs; --devices) {
      JobRequest request = original_;
      request.devices = devices;
      request.sizes.clear();
      request.per_node = std::min(original_.per_node, devices);
      if (request.per_node > 0 && devices % request.per_node != 0) continue;
      const bool room = has_room(request);
      const bool halves = !half && 2 * devices <= original_.devices;
      if (!room && !halves) continue;
      ++asked;
      if (!may_ask_(request)) continue;
      if (halves) half = request;
      bool backfill = false;
      if (room && starts_now(request, backfill)) {
        add("devices", request, sized(request));
        return;
      }
    }
    if (half) add("devices", *half, sized(*half));
  }

  bool has_room(const JobRequest& request) const {
    const auto pool = state_.indexes.pools.find({request.kind, request.nodes});
    return pool != state_.indexes.pools.end() && fits(pool->second.free, shape_of(request));
  }

  void over_more_nodes() {
    JobRequest request = original_;
    request.per_node = 0;
    if (original_.per_node == 0 || !may_ask_(request)) return;
    add("per_node", request, "without " + std::to_string(original_.per_node) + " devices on each node");
  }

  // The longest walltime that ends before a reservation begins; where none does, half of it.
  void shorter() {
    become(original_, By::change);
    std::vector<Duration> gaps;
    for (const Reservation& reservation : make_plan(state_, now_).reservations)
      gaps.push_back(floor<seconds>(reservation.at - now_));
    std::ranges::sort(gaps, std::greater{});
    JobRequest request = original_;
    for (const Duration gap : gaps) {
      if (gap >= original_.walltime || gap < kShortestWalltime) continue;
      request.walltime = gap;
      bool backfill = false;
      if (!starts_now(request, backfill)) continue;
      add("walltime", request, "with a walltime of " + format_duration(gap) + " or less");
      return;
    }
    request.walltime = floor<seconds>(original_.walltime / 2);
    if (request.walltime >= kShortestWalltime)
      add("walltime", request, "with a walltime of " + format_duration(request.walltime));
  }

  // The least priority that makes it first of its kind.
  void higher_priority() {
    int low = original_.priority, high = kHighestPriority;
    if (low >= high || first_with(low) || !first_with(high)) return;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (first_with(middle) ? high : low) = middle;
    }
    JobRequest request = original_;
    request.priority = high;
    add("priority", request, "with priority " + std::to_string(high), By::change);
  }

  // Without one of its nodes' labels; where no single one helps, without any.
  void fewer_labels() {
    bool helps = false;
    for (const auto& [key, value] : original_.nodes) {
      JobRequest request = original_;
      request.nodes.erase(key);
      helps |= add("nodes", request, "without resources.nodes {" + key + ": " + value + "}");
    }
    if (helps || original_.nodes.size() < 2) return;
    JobRequest request = original_;
    request.nodes.clear();
    add("nodes", request, "without resources.nodes");
  }

  // The narrowest of the wider demands that helps.
  void further_apart() {
    static constexpr std::array kWider{Within::node, Within::leaf_switch, Within::spine, Within::anywhere};
    auto wider = std::ranges::find(kWider, original_.within);
    while (wider != kWider.end() && ++wider != kWider.end()) {
      JobRequest request = original_;
      request.within = *wider;
      const bool demand = *wider != Within::anywhere;
      if (demand && !may_ask_(request)) continue;
      const std::string asked(to_string(original_.within));
      if (add("within", request,
              demand ? "within a " + std::string(to_string(*wider)) + " instead of a " + asked
                     : "without asking for nodes within a " + asked))
        return;
    }
  }

  void released() {
    Job& job = state_.jobs.at(id_);
    leave_indexes(state_, job);
    job.held = false;
    enter_indexes(state_, job);
    add("hold", original_, "once it is released", By::change);
  }

  void at_once() {
    JobRequest request = original_;
    std::string jobs;
    for (const Dependency& on : request.after) jobs += (jobs.empty() ? "job " : ", ") + to_string(on.job);
    request.after.clear();
    add("after", request, "without waiting for " + jobs);
  }

  bool first_with(int priority) {
    JobRequest request = original_;
    request.priority = priority;
    become(request, By::change);
    const QueueKey own = queue_key(state_, state_.jobs.at(id_));
    const auto queue = state_.indexes.queues.find(request.kind);
    return queue == state_.indexes.queues.end() ||
           std::ranges::none_of(queue->second, [&](const auto& line) { return *line.second.begin() < own; });
  }

  ClusterState state_;  // a copy that takes the changes
  Time now_;
  JobId id_;
  const JobRequest original_;
  const Time submitted_;
  std::optional<Time> no_later_;  // starts that would help
  const Estimates& estimates_;
  const MayAsk& may_ask_;
  ForecastBounds bounds_;
  std::vector<Sooner> found_;
};

}  // namespace

std::vector<Sooner> starts_sooner(const ClusterState& state, Time now, JobId job, const StartRange& as_it_is,
                                  const Estimates& estimates, const MayAsk& may_ask,
                                  const ForecastBounds& bounds) {
  const Job* waiting = find_job(state, job);
  PODIUM_CHECK(waiting && waiting->state == JobState::queued, "only a waiting job can start sooner");
  const std::optional<Time> no_later = as_it_is.expected ? as_it_is.expected : as_it_is.not_before;
  return Search(state, now, job, no_later, estimates, may_ask, bounds).run();
}

}  // namespace podium
