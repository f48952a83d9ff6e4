// Whether this node can start tasks: whether its agent's home can be written, and whether starts went wrong
// for a reason that is no job's fault (a full disk, no process to be had). A node that cannot is reported
// with unhealthy devices, so that jobs go elsewhere, until a look finds that it can again.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <string>

#include "common/base/time.h"

namespace podium {

// Of what every start needs, and no job can do without: room on the disk; memory, processes, descriptors.
enum class Shortage { none, room, other };
Shortage shortage_of(const std::exception& error);

// What the error says, and of a full disk which folder lies on it.
std::string shortage_text(const std::exception& error, const std::filesystem::path& folder);

class StartHealth {
 public:
  // `probe_shared` asks for a try to write in the shared folder, of which `probed` hears: such a folder may
  // hang, and nobody here waits for it.
  StartHealth(const std::filesystem::path& home, std::function<void()> probe_shared);

  const std::string& reason() const { return reason_; }  // "": it can

  // A start went wrong: the node's fault where it lacks something that every start needs (`shortage`), or
  // where a look or a probe finds so.
  void failed(const std::string& why, Shortage shortage, Time now);
  void succeeded() { pause_ = kShortestPause; }
  // Tries again what a start needs, if that is due; true when the reason is another one now.
  bool look(Time now);
  // What came of a probe; "": the shared folder can be written. Likewise.
  bool probed(const std::string& trouble, Time now);

 private:
  static constexpr Duration kShortestPause = std::chrono::seconds(5);
  static constexpr Duration kLongestPause = std::chrono::minutes(5);

  bool say(const std::string& found);
  void put_off(Time now);

  const std::filesystem::path jobs_;  // in the home
  const std::function<void()> probe_shared_;
  std::string reason_;
  bool waits_for_room_ = false;      // a little room is not enough: code may need much
  Time look_at_{};                   // not before, after a start that failed
  Duration pause_ = kShortestPause;  // doubles with every failure that no success comes between
};

}  // namespace podium
