#include "worker/comm/peer_watch.h"

#include "worker/comm/communicator.h"

namespace podium {

PeerWatch::PeerWatch(const GlooOptions& where, std::function<void(const std::string& who)> gone)
    : presence_(where.master_address, where.master_port, where.secret, where.meeting_timeout),
      listener_(where.master_address, where.master_port, where.secret, where.meeting_timeout, &stopping_),
      gone_(std::move(gone)) {
  presence_.announce("rank " + std::to_string(where.rank));
  thread_ = std::thread([this] { run(); });
}

PeerWatch::~PeerWatch() {
  stopping_ = true;
  thread_.join();
}

void PeerWatch::run() {
  constexpr auto kForever = std::chrono::hours(24 * 365);
  try {
    gone_(listener_.get(kGoneKey, kForever));
  } catch (const StopRequested&) {
    return;
  } catch (const SocketError&) {
    gone_("rank 0, which hosts the rendezvous,");
  }
}

}  // namespace podium
