// What rank 0 may do between two calls of another rank's: the moment after a record has its name is chosen by
// standing in for rename(2).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/temp_folder.h"
#include "tests/worker/checkpoint/rank_tensors.h"
#include "worker/checkpoint/writer.h"

namespace {

std::atomic<bool> g_hold{false};  // a record's rename returns only when the checkpoint is whole
std::filesystem::path g_whole;

}  // namespace

extern "C" int rename(const char* from, const char* to) noexcept {
  const long renamed = ::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  const bool is_record = std::filesystem::path(to).filename() == podium::record_name(1);
  while (renamed == 0 && g_hold && is_record && !std::filesystem::exists(g_whole)) std::this_thread::yield();
  return static_cast<int>(renamed);
}

namespace podium {
namespace {

// It synced the folder, which had its final name by then, and failed with "No such file or directory".
TEST(CheckpointRename, ARankTouchesNothingOnceItsRecordHasItsName) {
  const TempFolder folder;
  const TestLayout layout{{1, 1, 2}};
  CheckpointState state;
  state.step = 7;
  state.layout = layout.layout;
  RankTensors tensors[] = {{layout, 0}, {layout, 1}};
  CheckpointWriter first({folder.path(), "attempt", 1, 0}), second({folder.path(), "attempt", 1, 1});
  g_whole = folder.path() / checkpoint_name(7);
  g_hold = true;
  for (int rank = 0; rank < 2; ++rank) {
    tensors[rank].fill();
    const CheckpointTensors all = tensors[rank].tensors();
    (rank == 0 ? first : second).begin(state, all, owned_pieces(all, layout.layout, tensors[rank].place()));
  }
  EXPECT_TRUE(first.wait_until_whole(std::chrono::minutes(1)));
  EXPECT_NO_THROW(second.wait_for_parts(std::chrono::minutes(1)));
  g_hold = false;
  EXPECT_TRUE(std::filesystem::exists(g_whole));
}

}  // namespace
}  // namespace podium
