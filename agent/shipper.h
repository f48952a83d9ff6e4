// Delivers the tasks' files to the coordinator, on a connection of its own so that logs never delay a sync.
// The files are the spool: memory holds only the batch being sent, and an offset advances only on
// acknowledgement.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/batch.h"
#include "agent/coordinator.h"
#include "agent/lasting_troubles.h"

namespace podium {

class Shipper {
 public:
  // `spool_limit`: bytes of ended tasks that may wait for delivery; beyond it the oldest are dropped with a
  // warning. `log_limit`: bytes of each task's stdout and of its stderr that stay on disk, delivered or not:
  // a quarter from the beginning and half from the end.
  Shipper(boost::asio::any_io_executor executor, const CoordinatorConfig& coordinator, Supervisor& supervisor,
          std::int64_t spool_limit, std::int64_t log_limit);

  boost::asio::awaitable<void> run();  // until the executor stops

  void look_now();  // looks for news before the next look is due

 private:
  boost::asio::awaitable<void> pause(std::chrono::milliseconds duration);
  boost::asio::awaitable<void> send(Batch batch);
  bool acknowledge(const Batch& batch, const std::vector<StreamPosition>& positions);
  void keep_house();
  void bound_files();
  void bound_file(const SupervisedTask& task, std::size_t stream);

  CoordinatorConnection connection_;
  Supervisor& supervisor_;
  const std::int64_t spool_limit_;
  const std::int64_t log_limit_;
  boost::asio::steady_timer timer_;
  LastingTroubles troubles_;
  TaskId last_;
  std::chrono::steady_clock::time_point next_housekeeping_{}, next_bounding_{};
};

}  // namespace podium
