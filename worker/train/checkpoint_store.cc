#include "worker/train/checkpoint_store.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <system_error>

#include "worker/train/checkpoint_reader.h"
#include "worker/train/checkpoint_writer.h"
#include "worker/train/failure.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kLockName[] = ".lock";

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

// What any rank has to say against going on, the same on all of them; "" where none has.
std::string first_problem(Communicator& world, const std::string& own) {
  constexpr std::size_t kLength = 512;
  std::array<char, kLength> mine{};
  std::copy_n(own.begin(), std::min(own.size(), kLength - 1), mine.begin());
  std::vector<char> all(kLength * static_cast<std::size_t>(world.size()));
  world.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))).get();
  for (std::size_t i = 0; i < all.size(); i += kLength)
    if (all[i] != '\0') return &all[i];
  return "";
}

// Rank 0's list for all: a folder may look different to each for a while.
std::vector<std::string> agreed_checkpoints(const fs::path& folder, Communicator& world) {
  std::string text;
  if (world.rank() == 0) text = fmt::format("{}", fmt::join(checkpoints_in(folder), "\n"));
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

CheckpointStore::CheckpointStore(fs::path folder, int keep, Communicator& world, const ParallelLayout& layout)
    : folder_(std::move(folder)), world_(world), layout_(layout), place_(place_of(layout, world.rank())) {
  PODIUM_CHECK(layout.world() == world.size(), "the layout is not of this world's size");
  try {
    fs::create_directories(folder_);
    if (world_.rank() == 0) remove_strays();
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full,
                  "cannot use the checkpoint folder " + folder_.string() + ": " + error.what());
  }
  writer_ = std::make_unique<CheckpointWriter>(
      CheckpointWriter::Options{folder_, agree_on_token(world_), std::max(1, keep), world_.rank()});
}

CheckpointStore::~CheckpointStore() = default;

// Who holds the lock is the only run of this folder: the saves that lie there are dead.
void CheckpointStore::remove_strays() {
  lock_ = open_file(folder_ / kLockName, O_RDWR | O_CREAT);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) return;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.path().filename().string().starts_with(kTemporaryPrefix)) fs::remove_all(entry.path());
}

std::optional<CheckpointState> CheckpointStore::load_newest(const std::string& fingerprint,
                                                            const CheckpointTensors& tensors,
                                                            std::vector<std::string>& problems) {
  for (const std::string& name : agreed_checkpoints(folder_, world_)) {
    const std::string path = (folder_ / name).string();
    CheckpointManifest manifest;
    std::string problem;
    try {
      manifest = verify(name);
    } catch (const UnknownCheckpointVersion& error) {
      throw Failure(WorkerExit::bad_spec, "cannot continue from " + path + ": " + error.what());
    } catch (const std::exception& error) {
      problem = "the checkpoint " + path + " is not whole and was passed over: " + error.what();
    }
    problem = first_problem(world_, problem);
    if (!problem.empty()) {
      problems.push_back(problem);
      continue;
    }
    if (manifest.state.fingerprint != fingerprint)
      throw Failure(WorkerExit::bad_spec,
                    "the checkpoint " + path +
                        " comes from another model, data or training section; use another "
                        "checkpoint folder or the spec it was started with");
    read_tensors(path, manifest, tensors);
    return std::move(manifest.state);
  }
  return std::nullopt;
}

// Ranks share the work: together they look at every file.
CheckpointManifest CheckpointStore::verify(const std::string& name) const {
  CheckpointManifest manifest = read_manifest(folder_ / name);
  int file = 0;
  for (const auto& [part, stored] : manifest.files)
    if (file++ % world_.size() == world_.rank()) verify_file(folder_ / name, part, stored.digest);
  return manifest;
}

void CheckpointStore::begin_save(CheckpointState state, const CheckpointTensors& tensors) {
  state.layout = layout_;
  writer_->begin(std::move(state), tensors, owned_pieces(tensors, layout_, place_));
}

void CheckpointStore::before_update() { writer_->let_go(); }

std::vector<FinishedSave> CheckpointStore::poll() { return writer_->take_finished(); }

// The barriers notice a rank that died before its part was written; waiting for its record would not.
std::vector<FinishedSave> CheckpointStore::finish() {
  writer_->wait_for_parts();
  world_.barrier();
  writer_->wait_until_whole();
  world_.barrier();
  return writer_->take_finished();
}

}  // namespace podium
