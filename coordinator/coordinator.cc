#include "coordinator/coordinator.h"

#include <unistd.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "common/base/logging.h"
#include "common/base/units.h"
#include "common/net/access.h"
#include "common/net/spawn.h"
#include "common/net/token.h"
#include "coordinator/api/published_imports.h"
#include "coordinator/api/router.h"
#include "coordinator/api/submit.h"
#include "coordinator/home.h"
#include "coordinator/spec_code.h"

namespace podium {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kPoolThreads = 2;  // of each pool
// An agent keeps two: this is 10,000 nodes, and people.
constexpr std::size_t kMaxConnections = 24'000;
constexpr std::chrono::milliseconds kStopGrace{5'000};

ServerOptions server_options(const Config& config) {
  ServerOptions options;
  options.listen = config.listen;
  options.tls_certificate = config.tls_certificate;
  options.tls_key = config.tls_key;
  options.max_connections = kMaxConnections;
  return options;
}

// An address of this machine alone needs no token, as with the API.
std::unique_ptr<Gateway> open_gateway(const Config& config, const Tokens& tokens,
                                      std::function<void(const ReplicasHealth&)> on_health) {
  if (!config.services) return nullptr;
  GatewayOptions options;
  options.listen = *config.services;
  options.check_host = is_loopback(*config.services);
  if (!is_loopback(*config.services)) options.tokens = {tokens.services, tokens.user};
  return std::make_unique<Gateway>(options, std::move(on_health));
}

ApiOptions api_options(const Config& config, const Tokens& tokens, const std::string& cluster,
                       const std::string& services) {
  ApiOptions options;
  options.user_token = tokens.user;
  options.agent_token = tokens.agent;
  options.run_key = tokens.run_key;
  options.cluster = cluster;
  options.open_reads = config.open_reads || config.loopback_only();
  options.check_host = config.loopback_only();
  options.web = config.web.empty() ? config.web : std::filesystem::canonical(config.web);
  options.code = config.home / "code";
  options.max_artifact = config.max_artifact;
  options.shared = config.shared.empty() ? config.shared : std::filesystem::canonical(config.shared);
  options.published = config.published;
  options.imports = config.home / kImportsName;
  options.imported = load_imports(options.imports);
  options.prices = config.prices;
  options.services = services;
  options.version = PODIUM_VERSION;
  return options;
}

StoreOptions store_options(const Config& config) {
  StoreOptions options = config.store;
  for (const WebhookConfig& webhook : config.webhooks) options.webhooks.push_back(webhook.filter());
  return options;
}

ClusterState empty_state(const Config& config) {
  ClusterState state;
  state.limits = config.limits;
  state.scheduling = config.scheduling;
  return state;
}

}  // namespace

Coordinator::Coordinator(const Config& config, const Tokens& tokens)
    : config_(config),
      clock_record_(config.home, boot_id()),
      store_(
          config.home, [this](std::function<void()> done) { asio::post(io_, std::move(done)); },
          store_options(config)),
      loop_(io_.get_executor(), store_, clock_, load()),
      number_record_(config.home, loop_.state().cluster.id),
      artifacts_(config.home / "artifacts", config.artifacts),
      pool_(store_, "the readers of the store", kPoolThreads, 1000),
      searches_(store_, "searches for runs", kPoolThreads, 32),
      checks_(store_, "the check of specs", kPoolThreads,
              CommandLoop::kMostWaitForNodes + 64),  // whom heard() lets go at once, too
      forecasts_(store_, "forecasts", Explainer::kAtOnce, Explainer::kMostAsked),
      agents_(store_, "agents' reports", kPoolThreads, kMaxConnections),  // each has one under way
      streams_(store_, "what tasks have written", kPoolThreads, 64),
      files_(store_, "artifacts", kPoolThreads, 1000),
      counts_(store_.open_reader()->job_counts()),
      long_polls_(io_.get_executor(), loop_.state(), lease::longest_poll(config.limits.lease)),
      live_(io_.get_executor(), clock_.now()),
      feed_(io_.get_executor(), loop_, pool_, live_),
      mirror_(loop_.state()),
      explainer_(io_.get_executor(), loop_, mirror_, forecasts_),
      services_(io_.get_executor(), loop_),
      pilots_(io_.get_executor(), loop_, config.slurm, config.home),
      gateway_(open_gateway(config, tokens,
                            [this](const ReplicasHealth& health) {
                              asio::post(io_, [this, health] { services_.take(health); });
                            })),
      webhooks_(config.webhooks, store_, config.home),
      api_{api_options(config, tokens, loop_.state().cluster.id, services()),
           loop_,
           store_,
           counts_,
           pool_,
           searches_,
           checks_,
           agents_,
           streams_,
           files_,
           artifacts_,
           long_polls_,
           live_,
           feed_,
           mirror_,
           explainer_,
           services_,
           pilots_,
           webhooks_,
           KeyLock(io_.get_executor()),
           clock_.now(),
           [this] { return specs_ ? specs_->status() : std::vector<SpecRepositoryStatus>{}; },
           [this] { return gateway_ ? gateway_->requests() : Gateway::Requests{}; }},
      server_(io_.get_executor(), server_options(config),
              [this](ServerRequest request) { return answer_request(api_, std::move(request)); },
              {.check = [this](const ServerRequest& head) { return refuse_request(api_, head); },
               .sink = [this](const ServerRequest& head) { return sink_of_request(api_, head); },
               .form = form_reply}),
      signals_(io_, SIGTERM, SIGINT),
      next_clock_look_(io_) {
  loop_.on_decided([this](const Events& events) { mirror_.follow(events); });
  loop_.on_decided([this](const Events& events) { long_polls_.check(events); });
  loop_.on_decided([this](const Events& events) { feed_.notice(events); });
  loop_.on_decided([this](const Events& events) { services_.notice(events); });
  loop_.on_committed([this](const Events& events) { record_numbers(events); });
  loop_.on_committed([this](const Events& events) { counts_.follow(events); });
  loop_.on_committed([this](const Events& events) { feed_.follow(events); });
  loop_.on_committed([this](const Events& events) { services_.follow(events); });
  loop_.on_ingested([this](const StreamNews& news) { feed_.add_points(news); });
  loop_.on_committed([this](const Events&) { webhooks_.wake(); });
  loop_.on_ingested([this](const StreamNews&) { webhooks_.wake(); });
}

Loaded Coordinator::load() {
  ClusterState empty = empty_state(config_);
  const ClusterRecord record = store_.begin(random_hex(16));
  empty.cluster = record.name;
  empty.folder = record.folder;
  check_cluster(config_.home, record.name, config_.begin_anew);
  Loaded loaded = store_.load(empty);
  clock_.not_before(loaded.newest_event);
  note_clock_step(loaded.newest_event);
  return loaded;
}

void Coordinator::note_clock_step(Time newest_event) {
  if (const std::optional<Duration> step = clock_record_.step(clock_.ahead())) {
    store_.note_clock_step(newest_event, clock_.now(), *step);
    spdlog::warn(
        "the machine's clock is {} {} the cluster's time; the cluster follows the clock from now on, and "
        "runs that this change falls into set no record",
        format_duration(std::chrono::round<std::chrono::seconds>(std::chrono::abs(*step))),
        *step > Duration{} ? "ahead of" : "behind");
  }
  record_clock();
}

void Coordinator::record_clock() {
  try {
    clock_record_.keep(clock_.ahead());
  } catch (const std::system_error& error) {
    spdlog::warn("a step of the clock across the next restart will not be noticed: {}", error.what());
  }
}

void Coordinator::record_numbers(const Events& events) {
  JobId given{0};
  for (const Event& event : events) {
    if (const auto* queued = std::get_if<JobQueued>(&event.body)) given = std::max(given, queued->job);
    if (const auto* tracked = std::get_if<RunTracked>(&event.body)) given = std::max(given, tracked->job);
  }
  number_record_.keep(given);
}

asio::awaitable<void> Coordinator::follow_clock() {
  constexpr auto kEvery = std::chrono::minutes(1);
  const auto record = [this] { return record_clock(), true; };
  while (!stopping_) {
    next_clock_look_.expires_after(kEvery);
    co_await next_clock_look_.async_wait(asio::as_tuple(asio::use_awaitable));
    co_await agents_.run(record);  // elsewhere, because it writes a file
  }
}

std::string Coordinator::address() const {
  Url url;
  url.tls = !config_.tls_certificate.empty();
  url.host = config_.listen.host;
  url.port = server_.port();
  return url.origin();
}

std::string Coordinator::address_for_others() const {
  if (config_.listen.host != "0.0.0.0" && config_.listen.host != "::") return address();
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return address();
  Url url;
  url.tls = !config_.tls_certificate.empty();
  url.host = name.data();
  url.port = server_.port();
  return url.origin();
}

std::string Coordinator::services() const { return gateway_ ? gateway_->address() : std::string(); }

Result<ExperimentId> Coordinator::submit_spec(const SpecSubmission& submission) {
  const nlohmann::json source{{"repository", submission.repository},
                              {"commit", submission.commit},
                              {"path", submission.file},
                              {"dirty", false}};
  const auto submit = [](Api& api, Submission spec,
                         std::string key) -> asio::awaitable<std::optional<Result<Accepted>>> {
    co_return co_await submit_experiment(api, std::move(spec), std::move(key));
  };
  const Result<KeptCode> code = keep_spec_code(submission, config_.home);
  if (!code) return code.errors();
  auto answer = asio::co_spawn(
      io_,
      submit(api_, {submission.spec, submission.file, source.dump(), code->sha256, code->commit},
             submission.key),
      asio::use_future);
  const Result<Accepted> accepted = *answer.get();
  if (accepted.ok()) return accepted->experiment;
  if (accepted.errors().front().code == ErrorCode::unavailable)
    throw std::runtime_error(describe(accepted.errors()));
  return accepted.errors();
}

void Coordinator::run() {
  const JobId highest = number_record_.highest();
  number_record_.keep({loop_.state().next_job.value - 1});
  loop_.start(highest);
  feed_.start();
  webhooks_.start();
  server_.start();
  pilots_.start(address_for_others());
  if (gateway_)
    services_.start([this](std::vector<ReplicaPlace> replicas, std::vector<std::string> services) {
      gateway_->set_replicas(std::move(replicas), std::move(services));
    });
  if (!config_.specs.empty())
    specs_ = std::make_unique<SpecSync>(
        config_.specs, config_.home / "specs", config_.specs_every,
        [this](const std::string& key) { return Reader(config_.home).experiment_by_key(key); },
        [this](const SpecSubmission& submission) { return submit_spec(submission); }, clock_);
  spawn(io_.get_executor(), "signals", stop_on_signal());
  spawn(io_.get_executor(), "the clock's record", follow_clock());
  io_.run();
}

asio::awaitable<void> Coordinator::stop_on_signal() {
  const auto [error, signal] = co_await signals_.async_wait(asio::as_tuple(asio::use_awaitable));
  if (error) co_return;
  spdlog::info("{}: stopping", signal == SIGTERM ? "SIGTERM" : "SIGINT");
  signals_.clear();
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  long_polls_.answer_all();
  loop_.stop_waiting();
  live_.close();
  pilots_.stop();
  co_await server_.stop(kStopGrace);
  // On another thread, because a running submission waits for this one, and requests for their replicas.
  co_await agents_.run([this] { return specs_.reset(), true; });
  const auto end_gateway = [this] {
    if (gateway_) gateway_->stop(kStopGrace);
    return true;
  };
  co_await agents_.run(end_gateway);
  feed_.stop();
  stopping_ = true;
  next_clock_look_.cancel();
  loop_.stop();
  co_await loop_.durable();
}

}  // namespace podium
