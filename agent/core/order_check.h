// Checks orders once, before anything acts on them. Ids become folder names, and those that pass are safe as
// such. Pure.
#pragma once

#include "common/base/error.h"
#include "common/model/sync.h"

namespace podium {

// Every reason not to follow these orders, which were sent to `node`. Empty: they are valid.
Errors check_orders(const NodeOrders& orders, const NodeId& node);

}  // namespace podium
