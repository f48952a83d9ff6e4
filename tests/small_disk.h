// A file system of a few megabytes for a test to fill, in a mount namespace of its thread's own: it goes with
// the test's processes, however they end.
#pragma once

#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace podium::test {

class SmallDisk {
 public:
  // At `at`, which it makes. `size` as tmpfs takes it: "4m".
  SmallDisk(std::filesystem::path at, const std::string& size) : at_(std::move(at)) {
    std::filesystem::create_directories(at_);
    mounted_ = ::unshare(CLONE_NEWNS) == 0 &&
               ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("podium-test", at_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(at_.c_str(), MNT_DETACH);
  }

  // False without the right to mount: then the test is skipped.
  bool is_mounted() const { return mounted_; }

  std::int64_t free_bytes() const { return static_cast<std::int64_t>(std::filesystem::space(at_).available); }

  // A file that leaves so many bytes free.
  void fill(std::int64_t leave = 0) const {
    std::ofstream file(filler(), std::ios::app);
    const std::string page(4096, 'x');
    while (file && free_bytes() > leave) file << page << std::flush;
  }
  void clear() const { std::filesystem::remove(filler()); }

 private:
  std::filesystem::path filler() const { return at_ / "filler"; }

  std::filesystem::path at_;
  bool mounted_ = false;
};

}  // namespace podium::test
