// A file that is whole or not there, and takes nobody's place: it is written under another name beside it.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

namespace podium::cli {

// Throws Failure(Exit::usage) where the path is taken.
void require_free(const std::filesystem::path& path);

// A folder that nobody else has, with a name of its own, beside where `path` will be.
std::filesystem::path new_folder_beside(const std::filesystem::path& path);

// Gives a finished file or folder its name, durably. Throws as require_free, and std::system_error.
void move_to_free(const std::filesystem::path& from, const std::filesystem::path& to);

class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);  // throws as require_free, and std::system_error
  ~NewFile();                                    // removes what was not finished
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  void finish();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_, partial_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace podium::cli
