// What accounts hold, used and wait for, summed up on a thread of the readers' pool: there may be thousands.
#pragma once

#include "coordinator/api/api.h"
#include "coordinator/core/accounts/account_report.h"

namespace podium {

awaitable<AccountReport> account_figures(Api& api);  // throws Busy

}  // namespace podium
