#include "agent/gpu_watch.h"

#include <boost/asio/post.hpp>
#include <chrono>

namespace podium {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 10s;
constexpr auto kSlice = 100ms;  // after which a request, or the end, is noticed

}  // namespace

GpuWatch::GpuWatch(boost::asio::any_io_executor executor, std::unique_ptr<GpuMonitor> monitor,
                   std::function<void(GpuLook)> seen)
    : executor_(std::move(executor)),
      monitor_(std::move(monitor)),
      seen_(std::make_shared<std::function<void(GpuLook)>>(std::move(seen))),
      thread_([this] { run(); }) {}

GpuWatch::~GpuWatch() {
  stopping_ = true;
  thread_.join();
  *seen_ = [](const GpuLook&) {};
}

void GpuWatch::run() {
  while (!stopping_) {
    GpuLook look;
    look.request = requested_;
    look.gpus = monitor_->look();
    const std::uint64_t answered = look.request;
    boost::asio::post(executor_,
                      [seen = seen_, look = std::move(look)]() mutable { (*seen)(std::move(look)); });
    const auto next = std::chrono::steady_clock::now() + kBetweenLooks;
    while (!stopping_ && requested_ == answered && std::chrono::steady_clock::now() < next)
      if (monitor_->wait_for_xid(kSlice)) break;
  }
}

}  // namespace podium
