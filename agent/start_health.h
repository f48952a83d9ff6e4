// Whether this node can start tasks: its agent's home can be written, and starts do not fail for reasons that
// are not the jobs' (a full disk, no more processes). A node that cannot is reported with unhealthy devices,
// so that jobs go elsewhere, until a look finds that it can again.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <string>

#include "common/base/time.h"

namespace podium {

// A shortage of what every start needs: room on the disk (room); memory, processes or descriptors (other).
enum class Shortage { none, room, other };
Shortage shortage_of(const std::exception& error);

// The error's text, and for a full disk the folder on it.
std::string shortage_text(const std::exception& error, const std::filesystem::path& folder);

class StartHealth {
 public:
  // `probe_shared` requests a test write to the shared folder, whose result comes to `probed`: the folder may
  // hang, so nothing waits for it.
  StartHealth(const std::filesystem::path& home, std::function<void()> probe_shared);

  const std::string& reason() const { return reason_; }  // "": it can

  // Call when a start failed. The node is at fault where it lacks something that every start needs
  // (`shortage`), or where a look or a probe finds so.
  void failed(const std::string& why, Shortage shortage, Time now);
  void succeeded() { pause_ = kShortestPause; }
  // Checks again what a start needs, if that is due. Returns whether the reason changed.
  bool look(Time now);
  // Call with the result of a probe; "": the shared folder can be written. Returns whether the reason
  // changed.
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
