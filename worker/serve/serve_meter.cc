#include "worker/serve/serve_meter.h"

namespace podium {
namespace {

double seconds_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

// What a client that asks rightly is answered badly.
LoadWindow::End window_end_of(const std::string& outcome) {
  if (outcome == "answered") return LoadWindow::End::answered;
  const bool bad =
      outcome == "failed" || outcome == "timed_out" || outcome == "queue_full" || outcome == "not_ready";
  return bad ? LoadWindow::End::failed : LoadWindow::End::other;
}

}  // namespace

void ServeMeter::add_wait(std::chrono::nanoseconds waited) {
  const std::scoped_lock lock(mutex_);
  figures_.waited.add(seconds_of(waited));
  window_.add_wait(ServeTime::clock::now(), waited);
}

void ServeMeter::add_batch(std::size_t sequences, std::size_t tokens, std::chrono::nanoseconds computed) {
  const std::scoped_lock lock(mutex_);
  figures_.batch_sequences.add(static_cast<double>(sequences));
  figures_.batch_tokens.add(static_cast<double>(tokens));
  figures_.computed.add(seconds_of(computed));
}

void ServeMeter::add_request(const std::string& endpoint, const std::string& outcome,
                             std::chrono::nanoseconds whole) {
  const std::scoped_lock lock(mutex_);
  ++figures_.requests[{endpoint, outcome}];
  figures_.whole.add(seconds_of(whole));
  window_.add_request(ServeTime::clock::now(), window_end_of(outcome), whole);
}

void ServeMeter::add_load() {
  const std::scoped_lock lock(mutex_);
  ++figures_.loads;
}

ServeMeter::Figures ServeMeter::figures() const {
  const std::scoped_lock lock(mutex_);
  return figures_;
}

LoadFigures ServeMeter::load() const {
  const std::scoped_lock lock(mutex_);
  return window_.figures(ServeTime::clock::now());
}

}  // namespace podium
