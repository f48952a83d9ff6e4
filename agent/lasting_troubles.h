// What goes wrong again and again for a reason that lasts: said when it begins, every minute while it lasts,
// and when it is over. Else the log of an agent whose disk is full would fill it further.
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

  // In this pass over things that are tried again in every one.
  void failed(std::string text) { now_.insert(std::move(text)); }

  // The pass is through: what there is to say of it.
  News passed(Time now);
  void log_passed(Time now);

 private:
  std::set<std::string> now_;
  std::map<std::string, Time> said_;
};

}  // namespace podium
