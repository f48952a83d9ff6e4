#include "worker/checkpoint/writer.h"

#include <algorithm>
#include <system_error>

#include "common/base/check.h"
#include "common/base/file.h"
#include "worker/checkpoint/folder.h"
#include "worker/data/failure.h"
#include "worker/formats/hashed_file.h"
#include "worker/formats/safetensors.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

// What a save may hold in copies. The host's memory is that which training needs: where a disk is so slow
// that more is to be written when the weights change, the update waits for it. A device's tensors are saved
// to memory that training leaves alone, and a device must not wait.
constexpr std::size_t kLeastCopied = std::size_t{64} << 20;
std::size_t most_copied(std::size_t bytes, const MemorySpace& memory) {
  return memory.on_host() ? std::max(kLeastCopied, bytes / 4) : bytes;
}

constexpr auto kLookEvery = std::chrono::milliseconds(20);  // for the records of other ranks

std::vector<TensorEntry> entries_of(const CheckpointTensors& tensors, const std::vector<HeldPiece>& pieces) {
  std::vector<TensorEntry> entries;
  const auto add = [&](const std::string& kind, const Piece& piece, std::span<const float> values,
                       std::int64_t begin) {
    const auto held = values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(piece.size()));
    entries.push_back({tensor_name(kind, piece), "F32", tensor_shape(piece), std::as_bytes(held)});
  };
  for (const HeldPiece& held : pieces) {
    add(kWeights, held.piece, tensors.parameters.weights(), held.weights);
    for (const auto& [name, values] : tensors.states) add(name, held.piece, values, held.states);
  }
  sort_for_safetensors(entries);
  return entries;
}

}  // namespace

CheckpointWriter::CheckpointWriter(Options options)
    : options_(std::move(options)), thread_([this] { run(); }) {}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CheckpointWriter::begin(CheckpointState state, const CheckpointTensors& tensors,
                             const std::vector<HeldPiece>& pieces) {
  const auto now = std::chrono::steady_clock::now();
  const std::vector<TensorEntry> entries = entries_of(tensors, pieces);
  std::vector<Piece> table;
  for (const HeldPiece& held : pieces) table.push_back(held.piece);
  std::vector<std::span<const std::byte>> parts;
  std::size_t bytes = 0;
  for (const TensorEntry& entry : entries) {
    parts.push_back(entry.bytes);
    bytes += entry.bytes.size();
  }
  const std::map<std::string, std::string> metadata{{"format", "pt"}, {"step", std::to_string(state.step)}};
  const MemorySpace memory = memory_for_reading(tensors.parameters.memory());
  auto live = std::make_shared<LiveBytes>(parts, memory, most_copied(bytes, memory));
  const std::lock_guard lock(mutex_);
  rethrow();
  PODIUM_CHECK(!part_, "this rank's part of the save before is written");
  part_.reset(new Part{std::move(state), now, std::move(table), safetensors_header(entries, metadata),
                       std::move(live)});
  changed_.notify_all();
}

// A device is read by a stream of the writer's own, beside the computing and behind what was put there so
// far.
MemorySpace CheckpointWriter::memory_for_reading(const MemorySpace& memory) {
  if (memory.on_host()) return memory;
  if (!copies_) copies_ = memory.device->make_stream();
  copies_->wait_for(*memory.stream->record());
  return {memory.device, copies_.get()};
}

BeforeChange CheckpointWriter::before_change() {
  const std::lock_guard lock(mutex_);
  rethrow();
  if (!part_) return {};
  return [live = part_->bytes](std::span<const std::byte> changing) { live->let_go(changing); };
}

bool CheckpointWriter::wait_for_room(std::chrono::milliseconds time) {
  std::shared_ptr<LiveBytes> bytes;
  {
    const std::lock_guard lock(mutex_);
    rethrow();
    if (!part_) return true;
    bytes = part_->bytes;
  }
  return bytes->wait_for_room(time);
}

// Where a failure ends the wait it is thrown.
template <class Condition>
bool CheckpointWriter::wait_for(std::chrono::milliseconds time, const Condition& condition) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return error_ || condition(); });
  rethrow();
  return condition();
}

bool CheckpointWriter::wait_for_parts(std::chrono::milliseconds time) {
  return wait_for(time, [this] { return !part_; });
}

bool CheckpointWriter::wait_until_whole(std::chrono::milliseconds time) {
  return wait_for(time, [this] { return !part_ && pending_.empty(); });
}

std::vector<FinishedSave> CheckpointWriter::take_finished() {
  const std::lock_guard lock(mutex_);
  rethrow();
  return std::exchange(finished_, {});
}

std::vector<std::string> CheckpointWriter::take_warnings() {
  const std::lock_guard lock(mutex_);
  return std::exchange(warnings_, {});
}

void CheckpointWriter::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

void CheckpointWriter::run() {
  std::unique_lock lock(mutex_);
  try {
    while (!closing_) work(lock);
  } catch (const std::system_error& error) {
    if (!lock.owns_lock()) lock.lock();
    error_ = std::make_exception_ptr(
        Failure(WorkerExit::disk_full, std::string("cannot save a checkpoint: ") + error.what()));
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    error_ = std::current_exception();
  }
  if (part_) part_->bytes->abandon();
  changed_.notify_all();
}

// One thing there is to do, or waits for one. Holds the lock but while it writes.
void CheckpointWriter::work(std::unique_lock<std::mutex>& lock) {
  if (part_) {
    lock.unlock();
    write(*part_);
    lock.lock();
    if (options_.rank == 0) pending_.push_back({std::move(part_->state), part_->begin});
    part_.reset();
    changed_.notify_all();
  } else if (pending_.empty()) {
    changed_.wait(lock, [this] { return closing_ || part_; });
  } else if (all_parts_written(pending_.front())) {
    finish_save(lock);
  } else {
    changed_.wait_for(lock, kLookEvery, [this] { return closing_ || part_; });
  }
}

// A checkpoint that is whole is told, whatever comes of removing older ones.
void CheckpointWriter::finish_save(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::vector<std::string> warnings;
  const FinishedSave finished = make_whole(pending_.front(), warnings);
  lock.lock();
  finished_.push_back(finished);
  lock.unlock();
  prune_checkpoints(options_.folder, finished.name, options_.keep,
                    finished.best.known() ? checkpoint_name(finished.best.step) : "", warnings);
  lock.lock();
  for (const std::string& warning : warnings)
    if (warned_of_.insert(warning).second) warnings_.push_back(warning);
  pending_.pop_front();
  changed_.notify_all();
}

void CheckpointWriter::write(Part& part) {
  const fs::path folder = temporary(part.state.step), path = folder / part_name(options_.rank);
  try {
    fs::create_directories(folder);
    HashedFile file(path);
    file.write(std::as_bytes(std::span(part.header)));
    while (const std::size_t count = part.bytes->read(file.room())) {
      if (closing_) return;
      file.advance(count);
    }
    const CheckpointPart record{file.finish(), std::move(part.pieces)};
    // Its name is the last that this rank does there: with all records in place rank 0 renames the folder.
    const fs::path unsaid = folder / (".unsaid-" + record_name(options_.rank));
    write_file_atomic(unsaid, to_json(record).dump());
    fs::rename(unsaid, folder / record_name(options_.rank));
  } catch (const std::system_error&) {
    std::error_code ignored;  // the failure to write is what counts
    fs::remove(path, ignored);
    throw;
  }
}

bool CheckpointWriter::all_parts_written(const Pending& pending) const {
  for (int rank = 0; rank < pending.state.layout.world(); ++rank)
    if (!fs::exists(temporary(pending.state.step) / record_name(rank))) return false;
  return true;
}

FinishedSave CheckpointWriter::make_whole(const Pending& pending, std::vector<std::string>& warnings) {
  const fs::path from = temporary(pending.state.step);
  FinishedSave finished{pending.state.step, checkpoint_name(pending.state.step), 0, 0, pending.state.best};
  const fs::path to = options_.folder / finished.name;
  try {
    const CheckpointManifest manifest = collect(pending);
    finished.bytes = manifest.bytes();
    write_file_atomic(from / kManifestName, manifest_text(manifest));
    set_aside_from(options_.folder, finished.step, warnings);
    fs::rename(from, to);
    sync_folder(options_.folder);
  } catch (const std::system_error&) {
    std::error_code ignored;  // the failure to write is what counts
    fs::remove_all(from, ignored);
    throw;
  }
  finished.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - pending.begin).count();
  return finished;
}

// What the records say, which are then no longer needed.
CheckpointManifest CheckpointWriter::collect(const Pending& pending) const {
  CheckpointManifest manifest{pending.state, {}};
  for (int rank = 0; rank < pending.state.layout.world(); ++rank) {
    const fs::path record = temporary(pending.state.step) / record_name(rank);
    manifest.files[part_name(rank)] = checkpoint_part_from_json(nlohmann::json::parse(read_file(record)));
    fs::remove(record);
  }
  return manifest;
}

fs::path CheckpointWriter::temporary(std::int64_t step) const {
  return options_.folder / (kTemporaryPrefix + checkpoint_name(step) + "-" + options_.token);
}

}  // namespace podium
