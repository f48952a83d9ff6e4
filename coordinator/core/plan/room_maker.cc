#include "coordinator/core/plan/room_maker.h"

#include <utility>

#include "coordinator/core/plan/preemption.h"

namespace podium {

void RoomMaker::reclaim(const Job& job, const DevicePool& around) {
  const auto account = remaining_.ledger().guaranteed_by(job.request.account, job.request.devices);
  Outlook after = outlook(around);
  const auto borrows = [&](const Job& running) { return !is_at_or_below(running.request.account, *account); };
  engaged_ = fits(after.pool.free, shape_of(job.request)) || shrink(job, after, borrows);
  if (engaged_) return;
  const auto victims =
      choose_borrowers(state_, std::move(after.pool), std::move(after.ledger), job, *account, now_);
  stop(victims, PreemptionCause::reclaim,
       "borrowed devices are reclaimed for job " + to_string(job.id) + ", which the quota of account " +
           *account + " covers");
  engaged_ = !victims.empty();
}

void RoomMaker::preempt(const Job& job, const DevicePool& around) {
  const bool stops = policy_.preempts(state_.scheduling);
  if (!stops && !state_.indexes.elastic.contains(remaining_.kind())) return;
  Outlook after = outlook(around);
  const auto may_shrink = [&](const Job& running) {
    return running.request.priority <= job.request.priority ||
           policy_.may_preempt(state_.scheduling, standing_of(job), standing_of(running), now_);
  };
  engaged_ = shrink(job, after, may_shrink);
  if (engaged_ || !stops) return;
  const auto victims =
      choose_victims(state_, policy_, std::move(after.pool), std::move(after.ledger), job, now_);
  stop(victims, PreemptionCause::priority, "makes room for job " + to_string(job.id));
  engaged_ = !victims.empty();
}

RoomMaker::Outlook RoomMaker::outlook(const DevicePool& around) const {
  Outlook after{around, remaining_.ledger()};
  for (const JobId leaving : state_.indexes.leaving) {
    const Job& other = state_.jobs.at(leaving);
    if (other.request.kind != remaining_.kind()) continue;
    add_leaving_devices(state_, other, after.pool);
    after.ledger.change(other.request.account, -surplus_devices(other));
  }
  return after;
}

bool RoomMaker::shrink(const Job& job, const Outlook& outlook, const MayShrink& may_shrink) {
  const auto shrinks =
      choose_shrinks(state_, outlook.pool, outlook.ledger, job, may_shrink, now_, plan_.stale_at);
  for (const Resizing& shrink : shrinks)
    remaining_.reservations().expect_shrinking(shrink.job,
                                               surplus_of(state_, state_.jobs.at(shrink.job), shrink.resize));
  plan_.resize.insert(plan_.resize.end(), shrinks.begin(), shrinks.end());
  return !shrinks.empty();
}

void RoomMaker::stop(const std::vector<JobId>& victims, PreemptionCause cause, const std::string& reason) {
  for (const JobId victim : victims) {
    plan_.preempt.push_back({victim, cause, reason});
    remaining_.reservations().expect_leaving(victim);
  }
}

}  // namespace podium
