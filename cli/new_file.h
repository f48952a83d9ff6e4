// A file that is whole or not there, and takes nobody's place: it is written under another name beside it.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace podium::cli {

// All of these throw Failure: Exit::usage where a path is taken or cannot be, Exit::output where it cannot be
// written, as on a full disk.
void require_free(const std::filesystem::path& path);

// A folder that nobody else has, with a name of its own, beside where `path` will be.
std::filesystem::path new_folder_beside(const std::filesystem::path& path);

// Gives a finished file or folder its name, durably.
void move_to_free(const std::filesystem::path& from, const std::filesystem::path& to);

// The folder at a path, which is made with those above it where there is none. What was made and stays empty
// goes again.
class MadeFolder {
 public:
  explicit MadeFolder(const std::filesystem::path& path);
  ~MadeFolder() { remove(); }
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;

 private:
  void remove();

  std::vector<std::filesystem::path> made_;  // the outermost first
};

class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  ~NewFile();  // removes what was not finished
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  void finish();

 private:
  std::filesystem::path path_, partial_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace podium::cli
