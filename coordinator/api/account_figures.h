// What accounts hold, have used and wait for, computed on the readers' pool, because there may be thousands.
#pragma once

#include "coordinator/api/api.h"
#include "coordinator/core/accounts/account_report.h"

namespace podium {

awaitable<AccountReport> account_figures(Api& api);  // throws Busy

}  // namespace podium
