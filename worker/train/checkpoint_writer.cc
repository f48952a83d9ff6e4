#include "worker/train/checkpoint_writer.h"

#include <algorithm>
#include <system_error>

#include "common/base/file.h"
#include "worker/train/checkpoint_file.h"
#include "worker/train/failure.h"
#include "worker/train/safetensors.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr auto kLookEvery = std::chrono::milliseconds(20);  // for the records of other ranks

std::vector<TensorEntry> entries_of(const CheckpointTensors& tensors, const std::vector<HeldPiece>& pieces) {
  const std::array<std::span<float>, 3> buffers{tensors.parameters.weights(), tensors.first_moment,
                                                tensors.second_moment};
  std::vector<TensorEntry> entries;
  for (std::size_t kind = 0; kind < buffers.size(); ++kind)
    for (const HeldPiece& held : pieces) {
      const auto begin = static_cast<std::size_t>(kind == 0 ? held.weights : held.moments);
      entries.push_back(
          {tensor_name(kCheckpointKinds[kind], held.piece), "F32", tensor_shape(held.piece),
           std::as_bytes(buffers[kind].subspan(begin, static_cast<std::size_t>(held.piece.size())))});
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
  std::vector<std::span<const std::byte>> bytes;
  for (const TensorEntry& entry : entries) bytes.push_back(entry.bytes);
  const std::map<std::string, std::string> metadata{{"format", "pt"}, {"step", std::to_string(state.step)}};
  wait_for_parts();
  const MemorySpace memory = memory_for_reading(tensors.parameters.memory());
  const std::lock_guard lock(mutex_);
  part_.reset(new Part{std::move(state), now, std::move(table), safetensors_header(entries, metadata),
                       LiveBytes(std::move(bytes), memory)});
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

void CheckpointWriter::let_go() {
  const std::lock_guard lock(mutex_);
  rethrow();
  if (part_) part_->bytes.let_go();
}

void CheckpointWriter::wait_for_parts() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !part_ || error_; });
  rethrow();
}

void CheckpointWriter::wait_until_whole() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return (!part_ && pending_.empty()) || error_; });
  rethrow();
}

std::vector<FinishedSave> CheckpointWriter::take_finished() {
  const std::lock_guard lock(mutex_);
  rethrow();
  return std::exchange(finished_, {});
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
    lock.unlock();
    FinishedSave finished = make_whole(pending_.front());
    lock.lock();
    finished_.push_back(std::move(finished));
    pending_.pop_front();
    changed_.notify_all();
  } else {
    changed_.wait_for(lock, kLookEvery, [this] { return closing_ || part_; });
  }
}

void CheckpointWriter::write(Part& part) {
  const fs::path folder = temporary(part.state.step), path = folder / part_name(options_.rank);
  try {
    fs::create_directories(folder);
    CheckpointFile file(path);
    file.write(std::as_bytes(std::span(part.header)));
    while (const std::size_t count = part.bytes.read(file.room())) {
      if (closing_) return;
      file.advance(count);
    }
    const CheckpointPart record{file.finish(), std::move(part.pieces)};
    write_file_atomic(folder / record_name(options_.rank), to_json(record).dump());
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

FinishedSave CheckpointWriter::make_whole(const Pending& pending) {
  const fs::path from = temporary(pending.state.step);
  FinishedSave finished{pending.state.step, checkpoint_name(pending.state.step), 0, 0};
  const fs::path to = options_.folder / finished.name;
  try {
    const CheckpointManifest manifest = collect(pending);
    for (const auto& [name, part] : manifest.files) finished.bytes += part.digest.bytes;
    write_file_atomic(from / kManifestName, manifest_text(manifest));
    fs::remove_all(to);  // there only if it was found broken
    fs::rename(from, to);
    sync_folder(options_.folder);
    prune();
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

void CheckpointWriter::prune() const {
  const std::vector<std::string> names = checkpoints_in(options_.folder);
  for (auto i = static_cast<std::size_t>(options_.keep); i < names.size(); ++i) {
    fs::remove(options_.folder / names[i] / kManifestName);  // first: without it the rest counts for nothing
    fs::remove_all(options_.folder / names[i]);
  }
}

fs::path CheckpointWriter::temporary(std::int64_t step) const {
  return options_.folder / (kTemporaryPrefix + checkpoint_name(step) + "-" + options_.token);
}

}  // namespace podium
