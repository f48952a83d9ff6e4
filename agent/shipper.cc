#include "agent/shipper.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "agent/process/file_tail.h"
#include "common/net/zstd.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto kLookEvery = 100ms;
constexpr auto kKeepHouseEvery = 5s;
constexpr auto kBoundFilesEvery = 1s;
constexpr auto kAnswerTimeout = 30s;
constexpr std::int64_t kFreedAtOnce = 1 << 20;
constexpr std::int64_t kPage = 4096;  // less than one cannot be freed

}  // namespace

Shipper::Shipper(asio::any_io_executor executor, const CoordinatorConfig& coordinator, Supervisor& supervisor,
                 std::int64_t spool_limit, std::int64_t log_limit)
    : connection_(executor, coordinator, "/streams"),
      supervisor_(supervisor),
      spool_limit_(spool_limit),
      log_limit_(log_limit),
      timer_(executor) {}

asio::awaitable<void> Shipper::run() {
  while (true) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_housekeeping_) keep_house();
    if (now >= next_bounding_) bound_files();
    std::chrono::milliseconds wait = kLookEvery;
    try {
      Batch batch = next_batch(supervisor_.tasks(), last_);
      if (!batch.body.empty()) {
        wait = 0ms;
        co_await send(std::move(batch));
        connection_.succeeded();
      }
    } catch (const std::exception& error) {
      wait = connection_.failed(error.what());
    }
    if (wait > 0ms) co_await pause(wait);
  }
}

void Shipper::look_now() { timer_.cancel(); }

asio::awaitable<void> Shipper::pause(std::chrono::milliseconds duration) {
  timer_.expires_after(duration);
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<void> Shipper::send(Batch batch) {
  const Headers headers{{"Content-Type", "application/x-podium-streams"}, {"Content-Encoding", "zstd"}};
  std::string packed = zstd_compress(batch.body);
  batch.body = {};
  last_ = batch.last;
  const std::string answer = co_await connection_.post(headers, std::move(packed), kAnswerTimeout);
  for (const std::string& note : notes_from_json(answer)) spdlog::warn("the coordinator says: {}", note);
  if (!acknowledge(batch, positions_from_json(answer)))
    throw std::runtime_error("the coordinator takes no more of task " + to_string(batch.last) + "'s files");
}

// False where the coordinator's answer moves no offset: the same bytes would be sent again at once.
bool Shipper::acknowledge(const Batch& batch, const std::vector<StreamPosition>& positions) {
  bool moved = false;
  for (const StreamPosition& position : positions) {
    const auto sent = std::find_if(batch.sends.begin(), batch.sends.end(), [&](const StreamPosition& one) {
      return one.task == position.task && one.stream == position.stream;
    });
    if (sent == batch.sends.end() || position.next == sent->next || position.next < 0) continue;
    if (position.next < sent->next)
      spdlog::warn("task {}: the coordinator wants {} again from byte {}", to_string(position.task),
                   to_string(position.stream), position.next);
    supervisor_.set_delivered(position.task, position.stream, position.next);
    moved = true;
  }
  return moved;
}

void Shipper::keep_house() {
  next_housekeeping_ = std::chrono::steady_clock::now() + kKeepHouseEvery;
  supervisor_.save_records();
  supervisor_.look_after();
  std::int64_t waiting = 0;
  for (const auto& [id, task] : supervisor_.tasks())
    if (task.record.exit) waiting += undelivered_bytes(task);
  for (const auto& [id, task] : supervisor_.tasks()) {
    const std::int64_t bytes = undelivered_bytes(task);
    if (waiting <= spool_limit_) return;
    if (!task.record.exit || bytes == 0) continue;
    spdlog::error(
        "task {}: {} bytes of its files are dropped, because {} bytes wait for delivery and --spool-limit is "
        "{}",
        to_string(id), bytes, waiting, spool_limit_);
    supervisor_.give_up_delivery(id);
    waiting -= bytes;
  }
}

void Shipper::bound_files() {
  next_bounding_ = std::chrono::steady_clock::now() + kBoundFilesEvery;
  for (const auto& [id, task] : supervisor_.tasks())
    for (std::size_t i = 0; task.folder && !task.settled && i < kStreams.size(); ++i) bound_file(task, i);
  troubles_.log_passed(supervisor_.now());
}

// Frees delivered events only; of output the middle, which the coordinator does not keep either.
void Shipper::bound_file(const SupervisedTask& task, std::size_t stream) {
  const auto path = task.folder->stream_path(kStreams[stream]);
  const std::int64_t size = task.folder->stream_size(kStreams[stream]);
  const std::int64_t known =
      !is_output(kStreams[stream]) ? std::min(size, task.record.delivered[stream]) : size;
  if (known <= log_limit_) return;
  try {
    const std::int64_t begin = next_data(path, (log_limit_ / 4 + kPage - 1) / kPage * kPage).begin;
    const std::int64_t end = (known - log_limit_ / 2) / kPage * kPage;
    if (end - begin >= kFreedAtOnce) free_range(path, begin, end);
  } catch (const std::exception& error) {
    troubles_.failed(std::string(error.what()) + "; it grows on");
  }
}

}  // namespace podium
