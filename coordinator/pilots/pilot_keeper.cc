#include "coordinator/pilots/pilot_keeper.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>

#include "common/base/logging.h"
#include "common/net/run_on.h"
#include "common/net/spawn.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr Duration kEvery = 5s;
constexpr Duration kLongestSilence = 1min;
constexpr Duration kSlurmAnswersWithin = 30s;
constexpr std::size_t kClusterDigits = 12;  // of its id, in the name of its jobs

// What Slurm's programs need of the environment. SBATCH_… and SLURM_… of this process, which would change
// their options, and whatever else it holds stay here.
std::vector<std::string> slurm_environment() {
  std::vector<std::string> environment{"LC_ALL=C"};
  for (const char* name : {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "SLURM_CONF", "LD_LIBRARY_PATH"})
    if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
  return environment;
}

}  // namespace

PilotKeeper::PilotKeeper(asio::any_io_executor executor, CommandLoop& loop, SlurmOptions options,
                         const std::filesystem::path& home)
    : executor_(std::move(executor)),
      loop_(loop),
      options_(std::move(options)),
      lock_path_(home / "slurm.lock"),
      pause_(executor_) {
  options_.job_name = "podium-" + loop.state().cluster.id.substr(0, kClusterDigits);
}

PilotKeeper::~PilotKeeper() {
  stop();
  thread_.join();
}

void PilotKeeper::start(const std::string& address) {
  if (!options_.on()) return;
  if (options_.coordinator.empty()) options_.coordinator = address;
  spawn(executor_, "nodes of Slurm", run());
}

void PilotKeeper::stop() {
  stopped_ = true;
  pause_.cancel();
}

std::optional<Blocker> PilotKeeper::why(JobId job) const {
  if (!options_.on()) return std::nullopt;
  return why_no_nodes(options_, view_, memory_, job, loop_.now());
}

asio::awaitable<void> PilotKeeper::run() {
  while (!stopped_) {
    Duration pause = kEvery;
    try {
      pause = co_await look();
    } catch (const std::exception& error) {
      spdlog::error("nodes of Slurm: {}; trying again", error.what());
    }
    pause_.expires_after(pause);
    co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

PilotStand PilotKeeper::stand() const {
  std::set<JobId> asked_about;
  for (const SlurmJob& job : view_.jobs) asked_about.insert(job.job);
  for (const auto& [job, pause] : memory_.pauses) asked_about.insert(job);
  return pilot_stand(loop_.state(), loop_.plan(), asked_about, loop_.now());
}

// Until the first look, allocations of before a restart are unknown.
bool PilotKeeper::has_work(const PilotStand& stand) const {
  return !looked_ || !stand.wishes.empty() || !stand.lent.empty() ||
         std::ranges::any_of(view_.jobs, &SlurmJob::lives);
}

asio::awaitable<Duration> PilotKeeper::look() {
  PilotStand now = stand();
  if (!has_work(now)) {
    view_.stand = std::move(now);
    co_return kEvery;
  }
  const Answer listed = co_await run_slurm(squeue_command(options_, ::getuid()), "");
  view_.silent = listed.failure;
  if (listed.failure.empty()) view_.jobs = read_squeue(listed.out);
  view_.stand = stand();
  if (!listed.failure.empty())
    co_return std::min<Duration>(kLongestSilence, kEvery * (1 << std::min(++failures_, 6)));
  failures_ = 0;
  looked_ = true;
  co_await carry_out(plan_pilots(options_, view_.stand, view_.jobs, memory_, loop_.now()));
  co_return kEvery;
}

asio::awaitable<void> PilotKeeper::carry_out(PilotSteps steps) {
  if (!steps.commands.empty()) {
    const std::vector<Errors> refused = co_await loop_.run_each(std::move(steps.commands));
    for (const Errors& errors : refused)
      if (!errors.empty()) spdlog::warn("a step of a node of Slurm was not taken: {}", describe(errors));
  }
  for (const GiveBack& allocation : steps.give_back) co_await give_back(allocation);
  for (const Ask& wanted : steps.ask)
    if (stopped_ || !co_await ask(wanted)) co_return;
}

bool PilotKeeper::is_idle(std::int64_t allocation) const {
  const PilotStand now = stand();
  const auto nodes = now.lent.find(allocation);
  return nodes == now.lent.end() || std::ranges::none_of(nodes->second, &LentNode::busy);
}

asio::awaitable<void> PilotKeeper::give_back(const GiveBack& allocation) {
  if (stopped_ || !is_idle(allocation.allocation)) co_return;
  spdlog::info("job {} of Slurm is given back: {}", allocation.allocation, allocation.why);
  co_await run_slurm(scancel_command(allocation.allocation), "");
}

// Whether the next may be asked for.
asio::awaitable<bool> PilotKeeper::ask(const Ask& wanted) {
  const Answer answer =
      co_await run_slurm(sbatch_command(options_, wanted), allocation_script(options_, wanted));
  if (!answer.failure.empty()) {
    pause_asking(memory_, wanted.job, answer.failure, loop_.now());
    co_return false;
  }
  const auto id = read_sbatch(answer.out);
  if (!id) co_return false;  // the next look finds it
  spdlog::info("asked Slurm for {} node(s) for job {}: its job {}", wanted.nodes, to_string(wanted.job), *id);
  view_.jobs.push_back(
      {*id, "PENDING", wanted.nodes, wanted.job, wanted.attempt, "it was asked for just now"});
  memory_.awaited.insert(*id);
  co_return true;
}

asio::awaitable<PilotKeeper::Answer> PilotKeeper::run_slurm(std::vector<std::string> command,
                                                            std::string input) {
  if (!lock_) lock_ = open_file(lock_path_, O_RDWR | O_CREAT, 0600);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
    co_return Answer{"", "a program that the coordinator of before has started still runs"};
  const ProgramRun run{std::move(command), std::move(input), slurm_environment(), kSlurmAnswersWithin,
                       lock_.get()};
  const auto work = [this, &run] { return run_program(run, stopped_); };
  Answer answer;
  try {
    ProgramEnd end = co_await run_on(thread_, work);
    if (!end.ok()) answer.failure = describe_end(run, end);
    answer.out = std::move(end.out);
  } catch (const std::system_error& error) {
    answer.failure = error.what();
  }
  if (!answer.failure.empty()) spdlog::warn("{}: {}", run.command.front(), answer.failure);
  co_return answer;
}

}  // namespace podium
