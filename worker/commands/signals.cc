#include "worker/commands/signals.h"

#include <signal.h>

#include <ctime>

namespace podium {

StopSignals::StopSignals() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  sigset_t watched;
  ::sigemptyset(&watched);
  ::sigaddset(&watched, SIGTERM);
  ::sigaddset(&watched, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  thread_ = std::jthread([this, watched](const std::stop_token& end) {
    const timespec poll{0, 100'000'000};
    while (!end.stop_requested())
      if (::sigtimedwait(&watched, nullptr, &poll) > 0) stop_ = true;
  });
}

}  // namespace podium
