#include "worker/checkpoint/store.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <new>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/check.h"
#include "common/base/logging.h"
#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/run_identity.h"
#include "worker/checkpoint/writer.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kBetweenMeetings{1};
constexpr std::chrono::seconds kBetweenNotes{30};
constexpr std::chrono::seconds kUntilShown{5};  // to every rank, what rank 0 has listed

// Text that only this attempt's temporary folders carry: what another attempt left half written is never
// taken for this one's.
std::string agree_on_token(Communicator& world) {
  std::array<char, 16> token{};
  if (world.rank() == 0) {
    std::random_device device;
    const std::string text = fmt::format("{:08x}{:08x}", device(), device());
    std::copy(text.begin(), text.end(), token.begin());
  }
  world.broadcast(std::as_writable_bytes(std::span(token)), 0);
  return {token.begin(), token.end()};
}

// Of a file that is not there or is no file: what is wrong with the checkpoint, not with reading.
bool is_missing(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
         error == std::errc::is_a_directory;
}

[[noreturn]] void refuse_unreadable(const std::string& path, const std::string& why) {
  throw Failure(
      WorkerExit::disk_full,
      fmt::format("cannot read the checkpoint {} at present: {}. That does not make it a broken one; "
                  "where it stays so, mend the disk, or move the checkpoint away to go on from an "
                  "older one",
                  path, why));
}

std::string names_in(const fs::path& folder) {
  try {
    if (!fs::exists(folder)) return "";  // that of another job may never have been made
    return fmt::format("{}", fmt::join(checkpoints_in(folder), "\n"));
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full,
                  "cannot read the checkpoint folder " + folder.string() + ": " + error.what());
  }
}

// Waits for a file that another machine has made; opening its folders has a client of NFS ask for them anew.
void await(const fs::path& file, std::chrono::steady_clock::time_point until) {
  std::error_code ignored;  // reading the file tells it
  while (fs::status(file, ignored).type() == fs::file_type::not_found &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const fs::path checkpoint = file.parent_path();
    for (const auto& folder : {checkpoint.parent_path(), checkpoint})
      const fs::directory_iterator opened(folder, ignored);
  }
}

// Rank 0's list for all: a folder may look different to each for a while.
std::vector<std::string> agreed_checkpoints(const fs::path& folder, Communicator& world) {
  std::string text;
  if (world.rank() == 0) text = names_in(folder);
  std::uint64_t size = text.size();
  world.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  text.resize(size);
  world.broadcast(std::as_writable_bytes(std::span(text)), 0);
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

}  // namespace

CheckpointStore::CheckpointStore(CheckpointFolder folder, int keep, Communicator& world,
                                 const ParallelLayout& layout)
    : folder_(std::move(folder)), world_(world), layout_(layout), place_(place_of(layout, world.rank())) {
  PODIUM_CHECK(layout.world() == world.size(), "the layout is not of this world's size");
  writer_ = std::make_unique<CheckpointWriter>(
      CheckpointWriter::Options{folder_.path(), agree_on_token(world_), std::max(1, keep), world_.rank()});
}

CheckpointStore::~CheckpointStore() = default;

std::optional<CheckpointState> CheckpointStore::load_newest(const JobSpec& spec, const TextIdentity& text,
                                                            const CheckpointTensors& tensors,
                                                            std::vector<std::string>& problems) {
  const std::size_t before = problems.size();
  const auto check_same = [&](const std::string& path, const CheckpointState& then) {
    const std::string begin = "cannot continue from the checkpoint " + path + ": ";
    if (const std::string why = why_another_run(then, spec); !why.empty())
      throw Failure(WorkerExit::bad_spec, begin + why +
                                              "; give these keys the values they had, or use another "
                                              "checkpoint folder");
    if (const std::string why = why_other_text(then, spec, text); !why.empty())
      throw Failure(WorkerExit::bad_data, begin + why);
  };
  auto state = load_from(folder_.path(), check_same, tensors, problems);
  if (const std::size_t broken = problems.size() - before;
      !state && broken > 0 && !spec.checkpoint.begin_anew)
    throw Failure(
        WorkerExit::bad_data,
        fmt::format("none of the {} checkpoints in {} is whole: {}. Bring one of them back whole, or "
                    "set checkpoint.begin_anew: true (or move them away) to train from step 0",
                    broken, folder_.path().string(), problems[before]));
  return state;
}

CheckpointState CheckpointStore::load_newest_of(const fs::path& folder, const JobSpec& spec,
                                                const TextIdentity& text, const CheckpointTensors& tensors,
                                                std::vector<std::string>& problems) {
  const std::size_t before = problems.size();
  const auto check_same = [&](const std::string& path, const CheckpointState& then) {
    const std::string begin = "cannot resume from the checkpoint " + path + ": ";
    if (const std::string why = why_another_run(then, with_steps_of(then.spec, spec)); !why.empty())
      throw Failure(WorkerExit::bad_spec,
                    begin + why +
                        "; \"resume\" needs the model and training sections of the job it goes on from, but "
                        "for the steps of the last phase");
    if (const std::string why = why_other_text(then, spec, text); !why.empty())
      throw Failure(WorkerExit::bad_data, begin + why);
  };
  auto state = load_from(folder, check_same, tensors, problems);
  if (state) return std::move(*state);
  const std::size_t broken = problems.size() - before;
  if (broken == 0)
    throw Failure(WorkerExit::bad_spec,
                  "cannot resume: " + folder.string() +
                      " holds no checkpoint; let that job write one, or leave \"resume\" out");
  throw Failure(WorkerExit::bad_data,
                fmt::format("cannot resume: none of the {} checkpoints in {} is whole: {}. Bring one of them "
                            "back whole, or leave \"resume\" out",
                            broken, folder.string(), problems[before]));
}

std::optional<CheckpointState> CheckpointStore::load_from(const fs::path& folder, const CheckSame& check_same,
                                                          const CheckpointTensors& tensors,
                                                          std::vector<std::string>& problems) {
  for (const std::string& name : agreed_checkpoints(folder, world_)) {
    const std::string path = (folder / name).string();
    CheckpointManifest manifest;
    const auto [found, why] = worst_of_all_ranks(look_at(path, manifest));
    if (found == Found::unreadable) refuse_unreadable(path, why);
    if (found == Found::of_other_version)
      throw Failure(WorkerExit::bad_spec, "cannot continue from " + path + ": " + why);
    if (found == Found::broken) {
      problems.push_back("the checkpoint " + path + " is not whole and was passed over: " + why);
      continue;
    }
    check_same(path, manifest.state);
    try {
      read_tensors(path, manifest, tensors);
    } catch (const std::system_error& error) {
      refuse_unreadable(path, error.what());
    }
    return std::move(manifest.state);
  }
  return std::nullopt;
}

// What keeps this process from reading at all says nothing about the checkpoint.
CheckpointStore::Finding CheckpointStore::look_at(const fs::path& checkpoint,
                                                  CheckpointManifest& manifest) const {
  try {
    manifest = verify(checkpoint);
    return {};
  } catch (const UnknownCheckpointVersion& error) {
    return {Found::of_other_version, error.what()};
  } catch (const std::system_error& error) {
    return {is_missing(error.code()) ? Found::broken : Found::unreadable, error.what()};
  } catch (const std::bad_alloc&) {
    return {Found::unreadable, "this process has no memory left"};
  } catch (const std::exception& error) {
    return {Found::broken, error.what()};
  }
}

// The same on all ranks.
CheckpointStore::Finding CheckpointStore::worst_of_all_ranks(const Finding& own) const {
  constexpr std::size_t kLength = 4096;
  std::array<char, kLength> mine{};
  mine[0] = static_cast<char>(own.found);
  std::copy_n(own.why.begin(), std::min(own.why.size(), kLength - 2), mine.begin() + 1);
  std::vector<char> all(kLength * static_cast<std::size_t>(world_.size()));
  world_.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))).get();
  Finding worst;
  for (std::size_t i = 0; i < all.size(); i += kLength)
    if (static_cast<Found>(all[i]) > worst.found) worst = {static_cast<Found>(all[i]), &all[i + 1]};
  return worst;
}

// Ranks share the work: together they look at every file. What rank 0 has listed may be shown to others late.
CheckpointManifest CheckpointStore::verify(const fs::path& checkpoint) const {
  const auto until =
      std::chrono::steady_clock::now() + (world_.rank() == 0 ? std::chrono::seconds(0) : kUntilShown);
  await(checkpoint / kManifestName, until);
  CheckpointManifest manifest = read_manifest(checkpoint);
  int file = 0;
  for (const auto& [part, stored] : manifest.files) {
    if (file++ % world_.size() != world_.rank()) continue;
    await(checkpoint / part, until);
    verify_file(checkpoint, part, stored.digest);
  }
  return manifest;
}

void CheckpointStore::begin_save(CheckpointState state, const CheckpointTensors& tensors) {
  wait_together([this](auto time) { return writer_->wait_for_parts(time); });
  state.layout = layout_;
  writer_->begin(std::move(state), tensors, owned_pieces(tensors, layout_, place_));
  update_may_wait_ = true;
}

// What is not read when an update comes is copied by the end of it, so that later ones find room.
BeforeChange CheckpointStore::before_update() {
  if (update_may_wait_) wait_together([this](auto time) { return writer_->wait_for_room(time); });
  update_may_wait_ = false;
  return writer_->before_change();
}

std::vector<FinishedSave> CheckpointStore::poll() { return writer_->take_finished(); }

// All parts first: a rank that died before its part was written is noticed by the others, and waiting for its
// record would not notice it.
std::vector<FinishedSave> CheckpointStore::finish() {
  wait_together([this](auto time) { return writer_->wait_for_parts(time); });
  wait_together([this](auto time) { return writer_->wait_until_whole(time); });
  return writer_->take_finished();
}

std::vector<std::string> CheckpointStore::take_warnings() {
  std::vector<std::string> warnings = writer_->take_warnings();
  if (!std::exchange(folder_told_, true))
    warnings.insert(warnings.begin(), folder_.warnings().begin(), folder_.warnings().end());
  return warnings;
}

// Until `wait`, which is told how long it may take, says on every rank that it waits for nothing any more.
void CheckpointStore::wait_together(const std::function<bool(std::chrono::milliseconds)>& wait) const {
  const auto begin = std::chrono::steady_clock::now();
  auto next_note = begin + kBetweenNotes;
  for (;;) {
    double waiting = wait(kBetweenMeetings) ? 0 : 1;
    world_.all_reduce(std::span(&waiting, 1)).get();
    if (waiting == 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (world_.rank() != 0 || now < next_note) continue;
    spdlog::warn("waiting for the disks of {} of {} ranks to take a checkpoint, since {} s", waiting,
                 world_.size(), std::chrono::duration_cast<std::chrono::seconds>(now - begin).count());
    next_note = now + kBetweenNotes;
  }
}

}  // namespace podium
