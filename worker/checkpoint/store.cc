#include "worker/checkpoint/store.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <random>
#include <system_error>
#include <utility>

#include "common/base/check.h"
#include "common/base/logging.h"
#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/run_identity.h"
#include "worker/checkpoint/search.h"
#include "worker/checkpoint/writer.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kBetweenMeetings{1};
constexpr std::chrono::seconds kBetweenNotes{30};

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
  auto newest = load_from(folder_.path(), check_same, tensors, problems);
  if (const std::size_t broken = problems.size() - before;
      !newest && broken > 0 && !spec.checkpoint.begin_anew)
    throw Failure(
        WorkerExit::bad_data,
        fmt::format("none of the {} checkpoints in {} is whole: {}. Bring one of them back whole, or "
                    "set checkpoint.begin_anew: true (or move them away) to train from step 0",
                    broken, folder_.path().string(), problems[before]));
  if (!newest) return std::nullopt;
  CheckpointState& state = newest->state;
  look_for_best(state, problems);
  found_.push_back({state.step, checkpoint_name(state.step), newest->bytes(), 0, state.best});
  return std::move(state);
}

// The best is forgotten where it is whole no more: the next evaluation is the best then.
void CheckpointStore::look_for_best(CheckpointState& state, std::vector<std::string>& problems) {
  if (!state.best.known() || state.best.step == state.step) return;
  const std::string name = checkpoint_name(state.best.step);
  if (const auto best = CheckpointSearch(world_).look_at(folder_.path() / name, problems))
    found_.push_back({state.best.step, name, best->manifest.bytes(), 0, state.best});
  else
    state.best = {};
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
  if (auto newest = load_from(folder, check_same, tensors, problems)) {
    newest->state.best = {};  // which lies there
    return std::move(newest->state);
  }
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

std::optional<CheckpointManifest> CheckpointStore::load_from(const fs::path& folder,
                                                             const CheckSame& check_same,
                                                             const CheckpointTensors& tensors,
                                                             std::vector<std::string>& problems) {
  auto found = CheckpointSearch(world_).newest_in(folder, problems);
  if (!found) return std::nullopt;
  check_same(found->path, found->manifest.state);
  try {
    read_tensors(found->path, found->manifest, tensors);
  } catch (const std::system_error& error) {
    refuse_unreadable(found->path, error.what());
  }
  return std::move(found->manifest);
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
