#include "worker/serve/load_window.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace podium {
namespace {

double ms_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::optional<Percentiles> percentiles_of_some(std::vector<double> values) {
  return values.empty() ? std::nullopt : std::optional(percentiles_of(std::move(values)));
}

}  // namespace

Percentiles percentiles_of(std::vector<double> values) {
  PODIUM_CHECK(!values.empty(), "percentiles are of some values");
  std::ranges::sort(values);
  const auto at = [&values](double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::max<std::size_t>(rank, 1) - 1];
  };
  return {at(0.5), at(0.9), at(0.99)};
}

void LoadWindow::add_wait(ServeTime now, Length waited) {
  forget_before(now - length_);
  waits_.push_back({now, ms_of(waited)});
}

void LoadWindow::add_request(ServeTime now, End end, Length whole) {
  forget_before(now - length_);
  requests_.push_back({now, end, ms_of(whole)});
}

LoadFigures LoadWindow::figures(ServeTime now) {
  forget_before(now - length_);
  LoadFigures figures;
  std::vector<double> waits, latencies;
  for (const Wait& wait : waits_) waits.push_back(wait.ms);
  for (const Request& request : requests_) {
    ++figures.requests;
    if (request.end == End::failed) ++figures.failed;
    if (request.end == End::answered) latencies.push_back(request.ms);
  }
  const Length since = std::clamp<Length>(now - begin_, std::chrono::seconds(1), length_);
  figures.requests_per_second =
      static_cast<double>(figures.requests) / std::chrono::duration<double>(since).count();
  figures.queue_ms = percentiles_of_some(std::move(waits));
  figures.latency_ms = percentiles_of_some(std::move(latencies));
  return figures;
}

void LoadWindow::forget_before(ServeTime time) {
  while (!waits_.empty() && waits_.front().at < time) waits_.pop_front();
  while (!requests_.empty() && requests_.front().at < time) requests_.pop_front();
}

}  // namespace podium
