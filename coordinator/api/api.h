// What every resource of the REST API works with. A daemon has one Api, which outlives every request. On the
// loop's thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/model/device_reading.h"
#include "common/net/http_server.h"
#include "common/spec/published.h"
#include "coordinator/api/key_lock.h"
#include "coordinator/api/live_feed.h"
#include "coordinator/api/live_stream.h"
#include "coordinator/api/query.h"
#include "coordinator/loop/command_loop.h"
#include "coordinator/loop/job_counts.h"
#include "coordinator/loop/long_polls.h"
#include "coordinator/loop/work_pool.h"
#include "coordinator/mlflow/artifact_files.h"
#include "coordinator/store/store.h"
#include "coordinator/tracking/cost.h"
#include "coordinator/tracking/energy.h"

namespace podium {

class Explainer;
class PilotKeeper;
class ServiceKeeper;
class StateMirror;
struct StoredFigures;
class Webhooks;
struct SpecRepositoryStatus;

struct ApiOptions {
  std::string user_token;
  std::string agent_token;
  std::string run_key;     // of the tokens of jobs, which log into their own runs
  std::string cluster;     // ClusterName::id
  bool open_reads = true;  // reading needs no token
  bool check_host =
      true;  // only IP addresses and localhost in Host: an open API must not answer rebound names
  std::filesystem::path web;            // the dashboard's folder; "" for none
  std::filesystem::path code;           // the folder of jobs' code
  std::int64_t max_artifact = 0;        // bytes
  std::filesystem::path shared;         // the nodes' shared folder, where it is mounted here; "" for none
  std::vector<PublishedRow> published;  // that come with Podium, and of --published
  std::filesystem::path imports;        // the file of those that were posted (published_imports.h)
  std::vector<PublishedRow> imported;   // its rows
  Prices prices;
  std::string services;  // the address of the gateway of services; "" for none
  std::string version;
};

struct Api {
  ApiOptions options;
  CommandLoop& loop;
  Store& store;
  JobCounts& counts;
  WorkPool& pool;      // what people read
  WorkPool& searches;  // for runs, over many of them
  WorkPool& checks;    // specs
  WorkPool& agents;    // agents' reports and orders, which wait for no other work
  WorkPool& streams;   // the streams of tasks, of which much may arrive at once
  WorkPool& files;     // artifacts, which may be long
  mlflow::ArtifactFiles& artifacts;
  LongPolls& long_polls;
  LiveStream& live;
  LiveFeed& feed;
  StateMirror& mirror;  // for long work on a pool
  Explainer& explainer;
  ServiceKeeper& services;
  PilotKeeper& pilots;
  Webhooks& webhooks;
  KeyLock keys;  // idempotency keys whose experiment is being submitted
  Time started;
  std::function<std::vector<SpecRepositoryStatus>()> specs;  // of the git repositories that are watched
  // That the gateway of services has answered, by service and status.
  std::function<std::map<std::pair<std::string, int>, std::uint64_t>()> service_requests;
  std::map<std::pair<std::string, int>, std::uint64_t> requests{};  // answered, by method and status
  std::map<NodeId, std::vector<DeviceReading>>
      readings{};                       // of the last report of each node that has reported
  EnergyMeter energy{};                 // of those reports
  std::vector<DrawnEnergy> measured{};  // not yet passed to the store
  // Of the last scrape that read them, and until when they are told again.
  std::shared_ptr<const StoredFigures> figures{};
  std::chrono::steady_clock::time_point figures_until{};
};

// A request that has found its route.
struct Call {
  ServerRequest request;
  std::vector<std::string> path;  // the values of the pattern's {…}, in order
  Query query;
};

using boost::asio::awaitable;

}  // namespace podium
