#include "coordinator/api/account_figures.h"

#include "coordinator/loop/state_mirror.h"

namespace podium {

awaitable<AccountReport> account_figures(Api& api) {
  const auto report = [view = api.mirror.view(), now = api.loop.now()] {
    return view.look([now](const ClusterState& state) { return report_accounts(state, now); });
  };
  co_return co_await api.pool.run(report);
}

}  // namespace podium
