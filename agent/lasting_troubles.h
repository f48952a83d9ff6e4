// Failures that repeat for a lasting reason. Each is logged when it begins, every minute while it lasts, and
// when it is over; otherwise the log of an agent whose disk is full would fill it further.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace podium {

class LastingTroubles {
 public:
  struct News {
    std::vector<std::string> to_say, over;
  };

  // Notes a failure in this pass; each pass tries the same things again.
  void failed(std::string text) { now_.insert(std::move(text)); }

  // Ends the pass; returns what to log.
  News passed(Time now);
  void log_passed(Time now);

 private:
  std::set<std::string> now_;
  std::map<std::string, Time> said_;
};

}  // namespace podium
