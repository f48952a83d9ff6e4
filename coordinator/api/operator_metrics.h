// Families of /metrics that alerts are made of: silent nodes, a queue that stands still, goodput, records,
// the disk and the process itself.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/net/prometheus_text.h"
#include "coordinator/api/api.h"
#include "coordinator/webhooks/webhooks.h"

namespace podium {

// What the database tells of them.
struct StoredFigures {
  struct Record {
    std::string benchmark, device;
    int devices = 1;
    double seconds = 0;
  };

  LedgerSums ledger;  // of today and yesterday (UTC)
  std::vector<Record> records;
  std::map<std::string, std::int64_t> reached;  // runs that reached their target, by benchmark
  DamageView damage;
};

StoredFigures read_figures(Reader& reader, Time now);

void add_node_states(PrometheusText& page, const ClusterState& state);
void add_waits(PrometheusText& page, const ClusterState& state, Time now);
void add_ledger(PrometheusText& page, const LedgerSums& sums);
void add_records(PrometheusText& page, const StoredFigures& figures);
void add_webhooks(PrometheusText& page, const std::vector<WebhookStatus>& webhooks);
void add_damage(PrometheusText& page, const DamageView& damage);
void add_process(PrometheusText& page, const Api& api);

}  // namespace podium
