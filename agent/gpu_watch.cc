#include "agent/gpu_watch.h"

#include <spdlog/fmt/chrono.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace podium {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 10s;
constexpr auto kSlice = 100ms;  // after which a request, or the end, is noticed

}  // namespace

// Of the executor's thread.
struct GpuWatch::Audience : std::enable_shared_from_this<Audience> {
  Audience(const boost::asio::any_io_executor& executor, std::function<void(GpuLook)> callback,
           std::chrono::milliseconds longest)
      : seen(std::move(callback)), silence(longest), timer(executor) {}

  void show(GpuLook look) {
    if (!seen) return;
    last = look;
    timer.expires_after(silence);
    timer.async_wait([self = shared_from_this()](boost::system::error_code cancelled) {
      if (!cancelled) self->tell_silence();
    });
    seen(std::move(look));
  }

  void tell_silence() {
    if (!seen) return;
    for (GpuState& gpu : last.gpus) {
      gpu.health = fmt::format("the driver has not answered for {}: restart the node", silence);
      gpu.reading = {.device = gpu.index};
    }
    seen(last);
  }

  std::function<void(GpuLook)> seen;  // empty: nobody listens any more
  std::chrono::milliseconds silence;
  boost::asio::steady_timer timer;
  GpuLook last;
};

GpuWatch::GpuWatch(boost::asio::any_io_executor executor, std::unique_ptr<GpuMonitor> monitor,
                   std::function<void(GpuLook)> seen, std::chrono::milliseconds silence)
    : executor_(std::move(executor)),
      monitor_(std::move(monitor)),
      audience_(std::make_shared<Audience>(executor_, std::move(seen), silence)),
      thread_([this] { run(); }) {}

GpuWatch::~GpuWatch() {
  stopping_ = true;
  thread_.join();
  audience_->seen = nullptr;
  audience_->timer.cancel();
}

void GpuWatch::run() {
  while (!stopping_) {
    GpuLook look;
    look.request = requested_;
    look.gpus = monitor_->look();
    const std::uint64_t answered = look.request;
    boost::asio::post(executor_, [audience = audience_, look = std::move(look)]() mutable {
      audience->show(std::move(look));
    });
    const auto next = std::chrono::steady_clock::now() + kBetweenLooks;
    while (!stopping_ && requested_ == answered && std::chrono::steady_clock::now() < next)
      if (monitor_->wait_for_xid(kSlice)) break;
  }
}

}  // namespace podium
