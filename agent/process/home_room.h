// Keeps room for the agent's records in its home, which the output of tasks may fill. Folders of forgotten
// tasks, which are kept for people, are deleted first; the reserve serves a record that must be written when
// nothing else can be deleted.
//
//   <home>/reserve  taken from the disk while there is room; becomes the record's file
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <string_view>

#include "agent/process/task_folder.h"

namespace podium {

class HomeRoom {
 public:
  // `most`: bytes on disk of all kept folders.
  HomeRoom(std::filesystem::path home, std::int64_t most);

  const std::filesystem::path& home() const { return home_; }

  // Keeps the folder of a forgotten task as long as it is among the newest and there is room. Later calls are
  // newer.
  void keep(TaskId task);
  void drop_kept();  // forgets the kept folders, which were moved

  // Call every few seconds: deletes a folder where there are too many or the disk is short of room, and makes
  // the reserve anew.
  void look();

  // Runs `write`; while it finds no room, deletes a kept folder and runs it again. Throws what `write`
  // throws.
  void make_room_for(const std::function<void()>& write);

  // write_file_atomic for a file in the home itself; as a last resort it uses the blocks of the reserve.
  void write_file(const std::filesystem::path& path, std::string_view content);

 private:
  struct Kept {
    TaskFolder folder;
    std::int64_t bytes = 0;
  };

  void trim();
  bool remove_oldest();  // false: there is none
  void make_reserve() const;
  bool write_in_reserve(const std::filesystem::path& path, std::string_view content) const;

  const std::filesystem::path home_;
  const std::filesystem::path reserve_;
  const std::int64_t most_;
  std::deque<Kept> kept_;  // the oldest first
  std::int64_t bytes_ = 0;
};

bool is_no_room(const std::system_error& error);             // a full disk, or a quota that is used up
bool is_short_of_room(const std::filesystem::path& folder);  // its disk

}  // namespace podium
