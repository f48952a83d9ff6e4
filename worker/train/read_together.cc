#include "worker/train/read_together.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <compare>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "common/base/logging.h"
#include "worker/input/bad_data.h"
#include "worker/train/leave_process.h"

namespace podium {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeToLeave{2};  // of a reader that was cancelled
constexpr std::size_t kMostNamed = 4;            // ranks of one text, and texts, in a message

// The thread that reads. One that hangs in the file system would hold up the end of the process for ever, so
// it is left behind then: it shares what it works on, and finds out some day that it was cancelled.
class Reader {
 public:
  explicit Reader(std::function<TaskSource(Reading&)> read) : reading_(std::make_shared<Reading>()) {
    std::packaged_task<TaskSource()> task(
        [reading = reading_, read = std::move(read)] { return read(*reading); });
    result_ = task.get_future();
    std::thread(std::move(task)).detach();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    reading_->cancel();
    if (result_.valid() && !wait_for(kTimeToLeave)) leave_threads_behind();
  }

  bool wait_for(std::chrono::milliseconds time) const {
    return result_.wait_for(time) == std::future_status::ready;
  }
  TaskSource take() { return result_.get(); }
  const Reading& reading() const { return *reading_; }

 private:
  std::shared_ptr<Reading> reading_;  // shared with the thread
  std::future<TaskSource> result_;
};

// What the ranks tell each other, added up.
struct Standing {
  double finished = 0;  // ranks
  double stopped = 0;   // ranks that were asked to stop
  double done = 0;      // bytes
  double expected = 0;
};

Standing meet(Communicator& world, const Reader& reader, bool finished, bool stopped) {
  std::array<double, 4> sums{finished ? 1.0 : 0.0, stopped ? 1.0 : 0.0,
                             static_cast<double>(reader.reading().done()),
                             static_cast<double>(reader.reading().expected())};
  world.all_reduce(std::span<double>(sums)).get();
  return {sums[0], sums[1], sums[2], sums[3]};
}

std::string describe(const Standing& standing, int ranks) {
  const std::string share =
      fmt::format("reading the text: {:.0f} % done", 100 * standing.done / std::max(standing.expected, 1.0));
  return ranks == 1 ? share : fmt::format("{}; {} of {} ranks have read it", share, standing.finished, ranks);
}

// A text's identity as ranks exchange it.
struct Told {
  std::int64_t tokens = 0;
  std::int64_t sentences = 0;
  std::array<char, 16> xxh3{};

  auto operator<=>(const Told&) const = default;
};

std::string describe(const Told& text, const std::vector<int>& ranks) {
  std::vector<int> named(ranks.begin(),
                         ranks.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNamed, ranks.size())));
  const std::size_t more = ranks.size() - named.size();
  return fmt::format("{} tokens (XXH3 {}) on {} {}{}", text.tokens,
                     std::string_view(text.xxh3.data(), text.xxh3.size()),
                     ranks.size() == 1 ? "rank" : "ranks", fmt::join(named, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

// Paths that lead to other files on some node would train a model on a mixture that nobody asked for.
void check_same_text(Communicator& world, const TextIdentity& own) {
  Told mine{own.tokens, own.sentences, {}};
  std::copy_n(own.xxh3.begin(), std::min(own.xxh3.size(), mine.xxh3.size()), mine.xxh3.begin());
  std::vector<Told> all(static_cast<std::size_t>(world.size()));
  world.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all))).get();
  std::map<Told, std::vector<int>> ranks;
  for (int rank = 0; rank < world.size(); ++rank) ranks[all[static_cast<std::size_t>(rank)]].push_back(rank);
  if (ranks.size() == 1) return;
  std::vector<std::string> texts;
  for (const auto& [text, those] : ranks)
    if (texts.size() < kMostNamed) texts.push_back(describe(text, those));
  throw BadData(fmt::format(
      "the ranks have read {} different texts from the same paths: {}. Give all nodes the same files for "
      "data.train and data.tokenizer",
      ranks.size(), fmt::join(texts, "; ")));
}

}  // namespace

TaskSource read_together(Communicator& world, EventLog& events, const std::atomic<bool>& stop,
                         std::function<TaskSource(Reading&)> read, const ReadingPace& pace) {
  Reader reader(std::move(read));
  const bool lead = world.rank() == 0;
  std::optional<TaskSource> source;
  auto next_note = steady_clock::now() + pace.first_note;
  for (;;) {
    if (!source && reader.wait_for(pace.meeting)) source = reader.take();
    const Standing standing = meet(world, reader, source.has_value(), stop);
    if (standing.stopped > 0) throw StopRequested("asked to stop while reading the text: nothing to save");
    if (standing.finished == world.size()) break;
    if (!lead || steady_clock::now() < next_note) continue;
    events.note("info", describe(standing, world.size()));
    next_note = steady_clock::now() + pace.between_notes;
  }
  for (const std::string& warning : reader.reading().warnings()) {
    spdlog::warn("{}", warning);
    if (lead) events.note("warning", warning);
  }
  check_same_text(world, source->text);
  return *std::move(source);
}

}  // namespace podium
