// The daemon, wired in dependency order. It lives on one io_context and on the thread that calls run().
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "common/base/boot_clock.h"
#include "coordinator/api/api.h"
#include "coordinator/api/explainer.h"
#include "coordinator/config.h"
#include "coordinator/loop/clock_record.h"
#include "coordinator/loop/cluster_clock.h"
#include "coordinator/loop/number_record.h"
#include "coordinator/pilots/pilot_keeper.h"
#include "coordinator/serving/gateway.h"
#include "coordinator/serving/service_keeper.h"
#include "coordinator/specs/spec_sync.h"
#include "coordinator/webhooks/webhooks.h"

namespace podium {

struct Tokens {
  std::string user;
  std::string agent;
  std::string services;  // of those who ask services
  std::string run_key;   // that jobs' tokens are made with
};

class Coordinator {
 public:
  // Opens the store and listens. Throws where either fails.
  Coordinator(const Config& config, const Tokens& tokens);

  // Serves until SIGTERM or SIGINT, then finishes the answers that have begun. A second signal ends the
  // process at once.
  void run();

  std::string address() const;   // "http://127.0.0.1:7070"
  std::string services() const;  // the address of services; "" without --services

 private:
  Loaded load();
  std::string address_for_others() const;  // where it listens on any address: by the machine's name
  void note_clock_step(Time newest_event);
  void record_clock();
  void record_numbers(const Events& events);
  boost::asio::awaitable<void> follow_clock();
  boost::asio::awaitable<void> stop_on_signal();
  // On the spec sync's thread: waits for the loop's answer.
  Result<ExperimentId> submit_spec(const SpecSubmission& submission);

  Config config_;
  SystemClock wall_clock_;
  BootClock boot_clock_;
  ClusterClock clock_{wall_clock_, boot_clock_};
  ClockRecord clock_record_;
  boost::asio::io_context io_{1};
  Store store_;
  CommandLoop loop_;
  NumberRecord number_record_;
  mlflow::ArtifactFiles artifacts_;  // before the pools, whose threads use it
  WorkPool pool_, searches_, checks_, forecasts_, agents_, streams_, files_;
  JobCounts counts_;
  LongPolls long_polls_;
  LiveStream live_;
  LiveFeed feed_;
  StateMirror mirror_;
  Explainer explainer_;
  ServiceKeeper services_;
  PilotKeeper pilots_;
  std::unique_ptr<Gateway> gateway_;  // with --services
  Webhooks webhooks_;
  Api api_;
  HttpServer server_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer next_clock_look_;
  bool stopping_ = false;
  std::unique_ptr<SpecSync> specs_;  // while running, where repositories are given
};

}  // namespace podium
