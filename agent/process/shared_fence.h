// What the shared folder says, for every node alike: which folder it is, and which attempt of a job is the
// newest that may run. Agents raise a job's fence before they start a task, and stop their tasks where it
// stands higher: so a node that hears nobody still learns that its work was given to others.
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

// Two folders with one id are the same folder, or one is the other's copy. A folder without one gets `fresh`.
// Throws std::system_error or std::runtime_error.
std::string shared_folder_id(const std::filesystem::path& shared, const std::string& fresh);

struct SharedFence {
  std::int32_t attempt = 0;  // 0: nobody has raised it
  Time born{};               // of the job: another of its number has another; 0: not told
  std::string cluster;       // "": not told, as by agents of before
  Time begun{};              // of the attempt: of two of one number the first there stays; 0: not told

  bool operator==(const SharedFence&) const = default;
};

// Whether `fence` stands at a newer attempt, or at another of the same number.
bool gives_way(const SharedFence& own, const SharedFence& fence);

// What all attempts of a job share: the fence and their checkpoints. `jobs` is the folder of the cluster's
// jobs.
std::filesystem::path shared_job_folder(const std::filesystem::path& jobs, JobId job);

// The highest number of a job in that folder that an agent of `cluster` has raised a fence for; 0: there is
// none. A number that no other comes near is nobody's: it would use up the numbers of all jobs to come.
std::int64_t highest_job(const std::filesystem::path& jobs, const std::string& cluster);

// `job` is that folder. Throws std::system_error or std::runtime_error.
SharedFence read_shared_fence(const std::filesystem::path& job);

// Why `shared` is no longer the folder of that id, as below a mount that was lost; "" where it is.
std::string why_another_folder(const std::filesystem::path& shared, const std::string& id);

// A folder is another job's of this number: nobody's attempt to raise the fence can help.
struct AnotherJobs : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The fence as it stands afterwards, on disk: at `wanted` or higher, and never lower than it was, however
// many nodes raise it at once; lower than `wanted` while another node is just raising it. Makes the folder,
// and that of the checkpoints. Throws AnotherJobs, std::runtime_error and std::system_error.
SharedFence raise_shared_fence(const std::filesystem::path& job, const SharedFence& wanted);

}  // namespace podium
