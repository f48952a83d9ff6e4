// Room in the agent's home, which the output of its tasks may fill, for its own records: the folders of
// forgotten tasks, which stay for people to look into, go before a record finds none, and the reserve is
// there for a record that must be written when nothing else can go.
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

  // Of a forgotten task: its folder stays, as long as it is among the newest and there is room for it. Those
  // kept later are newer.
  void keep(TaskId task);
  void drop_kept();  // they are no longer where they were

  // Every few seconds: a folder goes where they are too many or the disk is short of room, and the reserve is
  // made anew.
  void look();

  // Runs `write`, and again whenever there was no room for it and a kept folder could go. Throws what it
  // throws.
  void make_room_for(const std::function<void()>& write);

  // write_file_atomic of a file in the home itself, at the last in the place of the reserve.
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
