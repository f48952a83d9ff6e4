// The highest number that a job has been given, in `home`/highest-job. A database that is replaced by an
// older copy of itself knows of less, and nodes know nothing of the runs that programs elsewhere log: a
// number of theirs that is given again would be two runs to those programs.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/file.h"
#include "common/base/id.h"

namespace podium {

class NumberRecord {
 public:
  // `cluster`: whose numbers they are. A file of another, or one that cannot be read, counts as none.
  NumberRecord(std::filesystem::path home, std::string cluster);

  JobId highest() const { return highest_; }  // 0: none
  // Writes the record where `given` is higher; tells the log where that begins to fail. It is not synced:
  // only a process that ends must not lose it.
  void keep(JobId given);

 private:
  const std::filesystem::path path_;
  const std::string cluster_;
  JobId highest_{0};
  Fd file_;  // open from the first write on
  bool failing_ = false;
};

}  // namespace podium
