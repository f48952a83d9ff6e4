// The table `history`: what happened to a job, for people.
#pragma once

#include <string>

#include "coordinator/core/events/events.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class History {
 public:
  explicit History(Database& database);

  void add(JobId job, Time time, const std::string& type, const std::string& level, const std::string& text);
  // Adds a row for an event that is news for people; ignores the others.
  void add(const Event& event);

 private:
  Statement insert_;
};

}  // namespace podium
