#include "coordinator/core/plan/remaining.h"

#include <algorithm>

namespace podium {
namespace {

void remove(const NodeSlices& slices, DevicePool& pool) {
  for (const NodeSlice& slice : slices)
    if (pool.capacity.free(slice.node) > 0) pool.free.add(slice.node, -slice.devices);
}

}  // namespace

const DevicePool& Remaining::pool(const Labels& nodes) {
  const auto known = pools_.find(nodes);
  if (known != pools_.end()) return known->second;
  const auto whole = state_.indexes.pools.find({kind(), nodes});
  DevicePool& pool = pools_[nodes];
  if (whole != state_.indexes.pools.end()) pool = whole->second;
  remove(taken_, pool);
  return pool;
}

void Remaining::start(const Job& job, const NodeSlices& slices, Time end) {
  take(slices);
  reservations_.start(slices, end);
  for (const NodeSlice& slice : slices) ledger_.change(job.request.account, slice.devices);
}

void Remaining::set_aside(const Job& job, NodeSlices slices, int more) {
  const DevicePool& all = pool({});
  for (NodeSlice& slice : slices) slice.devices = std::min(slice.devices, all.free.free(slice.node));
  take(slices);
  ledger_.change(job.request.account, std::max(more, 0));
}

void Remaining::take(const NodeSlices& slices) {
  for (auto& [nodes, pool] : pools_) remove(slices, pool);
  taken_.insert(taken_.end(), slices.begin(), slices.end());
}

}  // namespace podium
