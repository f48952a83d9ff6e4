// The shared folder, as every node sees it: its identity, and for each job the newest attempt that may run
// (the fence). Agents raise a job's fence before they start a task, and stop their tasks where it is higher.
// So a node without contact still learns that its work was given to others.
//
//   <shared>/podium-shared.id           32 hexadecimal digits, made once by whoever comes first
//   <shared>/<cluster>/jobs/<job>/epoch  "ATTEMPT BORN CLUSTER BEGUN": the newest attempt, when its job was
//                                       first submitted (milliseconds), whose job it is, and when the attempt
//                                       was decided. Written in place, for
//                                       a network file system shows a reader who opens it what was written,
//                                       and a file renamed over it perhaps not; every line is as long as
//                                       every other. One of before ends behind BORN. Only its owner can
//                                       open it, and so lock it: all agents run as one user.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "common/base/id.h"
#include "common/base/time.h"

namespace podium {

// Two folders with one id are the same folder, or one is a copy of the other. A folder without an id gets
// `fresh`. Throws std::system_error or std::runtime_error.
std::string shared_folder_id(const std::filesystem::path& shared, const std::string& fresh);

struct SharedFence {
  std::int32_t attempt = 0;  // 0: not raised yet
  Time born{};               // of the job; another job of its number has another; 0: unknown
  std::string cluster;       // "": unknown, as from older agents
  Time begun{};              // of the attempt: of two of one number the first in the file stays; 0: unknown

  bool operator==(const SharedFence&) const = default;
};

// Whether `fence` holds a newer attempt than `own`, or another of the same number.
bool gives_way(const SharedFence& own, const SharedFence& fence);

// The folder that all attempts of a job share, with the fence and the checkpoints. `jobs`: the folder of the
// cluster's jobs.
std::filesystem::path shared_job_folder(const std::filesystem::path& jobs, JobId job);

// The highest number of a job in that folder for which an agent of `cluster` has raised a fence; 0: none. A
// number far beyond all others is ignored, because it would use up the numbers of future jobs.
std::int64_t highest_job(const std::filesystem::path& jobs, const std::string& cluster);

// `job` is that folder. Throws std::system_error or std::runtime_error.
SharedFence read_shared_fence(const std::filesystem::path& job);

// Why `shared` is no longer the folder of that id, for example because its mount was lost; "" where it is.
std::string why_another_folder(const std::filesystem::path& shared, const std::string& id);

// The folder belongs to another job of this number: raising the fence cannot succeed.
struct AnotherJobs : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Raises the fence and returns it as it then is on disk: at `wanted` or higher, or lower while another node
// is raising it at this moment. It never falls, however many nodes raise it at once. Makes the folder and
// that of the checkpoints. Throws AnotherJobs, std::runtime_error and std::system_error.
SharedFence raise_shared_fence(const std::filesystem::path& job, const SharedFence& wanted);

}  // namespace podium
