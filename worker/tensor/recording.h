// Work on a device that comes again and again with the same arguments (as CUDA graphs): done launch by launch
// the first time, when algorithms are chosen, code is loaded and memory grows; recorded the second time; from
// then on replayed, in one call of the host. A recording holds the addresses that its work was given, so it
// is of use as long as the memory stays where it was.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

#include "worker/tensor/device.h"

namespace podium {

class Recording {
 public:
  // Does `work`, or replays what it once put on the stream. `moves` changes whenever memory that the work
  // uses has moved. `again`: just this work has been done before. What else `work` does on the host is done
  // only when it is not replayed.
  template <class Work>
  void run(DeviceStream& stream, std::int64_t moves, bool again, const Work& work) {
    if (!again) return work();
    if (recorded_ == nullptr || moves_ != moves) {
      recorded_.reset();
      recorded_ = record(stream, work);
      moves_ = moves;
    }
    recorded_->replay();
  }

 private:
  template <class Work>
  static std::unique_ptr<DeviceRecording> record(DeviceStream& stream, const Work& work) {
    stream.begin_recording();
    try {
      work();
    } catch (...) {
      abandon(stream);
      throw;
    }
    return stream.end_recording();
  }

  static void abandon(DeviceStream& stream) noexcept {
    try {
      stream.end_recording();
    } catch (const std::exception&) {  // it has failed with the work
    }
  }

  std::unique_ptr<DeviceRecording> recorded_;
  std::int64_t moves_ = 0;  // when it was recorded
};

}  // namespace podium
