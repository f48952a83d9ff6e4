// How long requests that may be repeated are sent again.
#pragma once

#include "common/base/time.h"

namespace podium::cli {

constexpr Duration kCoordinatorAbsence =
    std::chrono::minutes(2);  // as long as a coordinator may take to come back

}  // namespace podium::cli
