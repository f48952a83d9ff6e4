// The boundary: orders are checked here once, before anything acts on them. Ids become folder names, so what
// passes is safe to use as such. Pure.
#pragma once

#include "common/base/error.h"
#include "common/model/sync.h"

namespace podium {

// Every reason not to act on these orders, which were sent to `node`. Empty: they are sound.
Errors check_orders(const NodeOrders& orders, const NodeId& node);

}  // namespace podium
