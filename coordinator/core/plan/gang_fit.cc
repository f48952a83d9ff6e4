#include "coordinator/core/plan/gang_fit.h"

#include "coordinator/core/plan/elastic.h"
#include "coordinator/core/plan/quota_walk.h"

namespace podium {

std::optional<NodeSlices> GangFit::find(const DevicePool& around, const JobClass& job_class, const Job& job,
                                        Time end, int quota_depth) const {
  const auto find_in = [&](const FreeDevices& free) {
    return job.request.elastic() ? find_largest(free, job, end, quota_depth)
                                 : find_place(free, job_class.shape, job, end);
  };
  std::optional<NodeSlices> elsewhere;
  if (job.retries.quick > 0 && !state_.indexes.suspects.empty())
    elsewhere = find_in(without_suspects(state_, around, job).free);
  return elsewhere ? elsewhere : find_in(around.free);
}

std::optional<NodeSlices> GangFit::find_largest(const FreeDevices& free, const Job& job, Time end,
                                                int quota_depth) const {
  const AccountLedger& ledger = remaining_.ledger();
  const std::string& account = job.request.account;
  const int allocated = job.attempt ? job.devices() : 0;
  for (auto size = job.request.sizes.rbegin(); size != job.request.sizes.rend() && *size > allocated;
       ++size) {
    if (ledger.over_limit(account, *size - allocated)) continue;
    if (quota_depth > 0 && depth_of_guarantee(ledger, account, *size) != quota_depth) continue;
    if (auto slices = find_place(free, shape_at(job.request, *size), job, end)) return slices;
  }
  return std::nullopt;
}

std::optional<NodeSlices> GangFit::find_place(const FreeDevices& free, const Shape& shape, const Job& job,
                                              Time end) const {
  const Reservations& reservations = remaining_.reservations();
  if (!fits(free, shape) || !reservations.bind(end)) return choose(free, shape);
  return choose(reservations.open_to(free, job.request.account, end), shape);
}

}  // namespace podium
