// Families of /metrics that alerts are made of: silent nodes, a queue that stands still, goodput, records,
// the disk and the process itself.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/net/prometheus_text.h"
#include "coordinator/api/api.h"
#include "coordinator/webhooks/webhooks.h"

namespace podium {

// What the database tells of them.
struct StoredFigures {
  struct Record {
    std::string benchmark, device_model;
    int devices = 1;
    double seconds = 0;
  };

  LedgerSums ledger;  // of today and yesterday (UTC)
  std::vector<Record> records;
  std::map<std::string, std::int64_t> reached;  // runs that reached their target, by benchmark
  DamageView damage;
};

// Read anew when what was read is so old that reading it costs little, at most a minute. Where they cannot be
// read, what was read before.
awaitable<std::shared_ptr<const StoredFigures>> stored_figures(Api& api);

void add_node_states(PrometheusText& page, const Api& api);
void add_queue(PrometheusText& page, const ClusterState& state, const Plan& plan, Time now);
void add_ledger(PrometheusText& page, const LedgerSums& sums);
void add_records(PrometheusText& page, const StoredFigures& figures);
void add_webhooks(PrometheusText& page, const std::vector<WebhookStatus>& webhooks);
void add_damage(PrometheusText& page, const DamageView& damage);
void add_process(PrometheusText& page, const Api& api);

}  // namespace podium
