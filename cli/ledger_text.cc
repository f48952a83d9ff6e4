#include "cli/ledger_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr int kBarWidth = 24;

// In the order in which they are shown.
constexpr std::array<std::pair<const char*, const char*>, 12> kBuckets{{{"waiting", "waiting"},
                                                                        {"launching", "launching"},
                                                                        {"rendezvous", "rendezvous"},
                                                                        {"loading", "loading"},
                                                                        {"stepping", "steps that count"},
                                                                        {"lost", "steps taken again"},
                                                                        {"evaluating", "evaluating"},
                                                                        {"checkpointing", "checkpointing"},
                                                                        {"running", "running"},
                                                                        {"stopping", "stopping"},
                                                                        {"backing_off", "backing off"},
                                                                        {"unknown", "unknown"}}};

bool is_held(const std::string& kind) { return kind != "waiting" && kind != "backing_off"; }
bool is_loss(const std::string& kind) {
  return is_held(kind) && kind != "stepping" && kind != "running" && kind != "unknown";
}

struct Bucket {
  std::int64_t times = 0, wall_ms = 0, device_ms = 0, longest_ms = 0;

  void add(const Bucket& other) {
    times += other.times;
    wall_ms += other.wall_ms;
    device_ms += other.device_ms;
    longest_ms = std::max(longest_ms, other.longest_ms);
  }
};

using Buckets = std::map<std::string, Bucket>;  // by kind

std::string human_ms(std::int64_t ms) {
  return ms < 10'000 ? fmt::format("{:.1f}s", static_cast<double>(ms) / 1000)
                     : human_seconds(static_cast<double>(ms) / 1000);
}

std::string percent(std::int64_t part, std::int64_t all) {
  if (all == 0) return "–";
  const double percents = 100.0 * static_cast<double>(part) / static_cast<double>(all);
  return percents > 0 && percents < 10 ? fmt::format("{:.1f} %", percents)
                                       : fmt::format("{:.0f} %", percents);
}

std::string percent(const json& fraction) {
  return fraction.is_number() ? fmt::format("{:.0f} %", 100 * fraction.get<double>()) : "–";
}

std::string device_hours(std::int64_t device_ms) {
  return fmt::format("{:.2f}", static_cast<double>(device_ms) / 3.6e6);
}

std::string bar(std::int64_t part, std::int64_t all) {
  constexpr std::array kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<int>(8.0 * kBarWidth * static_cast<double>(part) / static_cast<double>(all) + 0.5);
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[static_cast<std::size_t>(eighths % 8)];
}

std::int64_t sum_of(const Buckets& buckets, std::int64_t Bucket::*field) {
  std::int64_t sum = 0;
  for (const auto& [kind, bucket] : buckets) sum += bucket.*field;
  return sum;
}

Buckets without_waits(Buckets buckets) {
  std::erase_if(buckets, [](const auto& entry) { return !is_held(entry.first); });
  return buckets;
}

// "Of the rest, most went into steps taken again: 21m00s."; "" where there is none.
std::string largest_loss(const Buckets& buckets) {
  const char* words = nullptr;
  Bucket most;
  for (const auto& [kind, name] : kBuckets) {
    const auto found = buckets.find(kind);
    if (found == buckets.end() || !is_loss(kind) || found->second.device_ms <= most.device_ms) continue;
    most = found->second;
    words = name;
  }
  return words ? fmt::format(" Most of the rest was {}: {}.", words, human_ms(most.wall_ms)) : "";
}

std::string sentence(const json& ledger, const Buckets& buckets) {
  const Buckets held = without_waits(buckets);
  const std::int64_t wall = sum_of(held, &Bucket::wall_ms), device_ms = sum_of(held, &Bucket::device_ms);
  const std::string name = fmt::format("job {}", integer_field(ledger, "job"));
  const std::string so_far = flag_field(ledger, "final") ? "" : " so far";
  if (wall == 0)
    return fmt::format("{} has held no device{}; it waited {}.", name, so_far,
                       human_ms(sum_of(buckets, &Bucket::wall_ms)));
  const double devices = static_cast<double>(device_ms) / static_cast<double>(wall);
  std::string text = fmt::format("{} held {} device{} for {}{}", name, human_value(devices),
                                 devices == 1 ? "" : "s", human_ms(wall), so_far);
  const json goodput = field(ledger, "goodput");
  if (!goodput.is_number()) return text + "; it did not report its steps.";
  return text + fmt::format("; {} of that time went into steps that count.", percent(goodput)) +
         largest_loss(held);
}

Table bucket_table() {
  return Table({{"BUCKET"},
                {"TIME", true},
                {"SHARE", true},
                {"", false, true},
                {"DEVICE HOURS", true},
                {"TIMES", true},
                {"LONGEST", true}});
}

void add_row(Table& table, const std::string& name, const Bucket& bucket, std::int64_t all, bool with_bar) {
  table.add({{name, with_bar ? Colour::none : Colour::dim},
             {human_ms(bucket.wall_ms)},
             {percent(bucket.device_ms, all)},
             {with_bar ? bar(bucket.device_ms, all) : ""},
             {device_hours(bucket.device_ms)},
             {human_count(bucket.times)},
             {human_ms(bucket.longest_ms)}});
}

Bucket bucket_of(const json& total) {
  return {integer_field(total, "times"), integer_field(total, "wall_ms"), integer_field(total, "device_ms"),
          integer_field(total, "longest_ms")};
}

Bucket bucket_of_piece(const json& piece) {
  const std::int64_t wall = integer_field(piece, "to_ms") - integer_field(piece, "from_ms");
  return {integer_field(piece, "merged"), wall, wall * integer_field(piece, "devices"), wall};
}

}  // namespace

std::string ledger_text(const json& ledger, const Terminal& terminal) {
  Buckets buckets;
  std::map<std::string, Buckets> by_detail;
  for (const json& total : ledger.at("totals")) {
    const std::string kind = text_field(total, "kind"), detail = text_field(total, "detail");
    buckets[kind].add(bucket_of(total));
    if (!detail.empty()) by_detail[kind][detail].add(bucket_of(total));
  }
  const std::int64_t all = sum_of(buckets, &Bucket::device_ms);
  Table table = bucket_table();
  for (const auto& [kind, name] : kBuckets) {
    if (!buckets.contains(kind)) continue;
    add_row(table, name, buckets[kind], all, true);
    for (const auto& [detail, bucket] : by_detail[kind])
      add_row(table, "  " + in_words(detail), bucket, all, false);
  }
  return sentence(ledger, buckets) + (table.empty() ? "\n" : "\n\n" + table.render(terminal));
}

std::string attempts_ledger_text(const json& ledger, const Terminal& terminal) {
  std::map<std::int64_t, Buckets> attempts;
  std::map<std::int64_t, std::int64_t> devices;
  for (const json& piece : ledger.at("pieces")) {
    const std::int64_t attempt = integer_field(piece, "attempt");
    if (attempt == 0) continue;
    attempts[attempt][text_field(piece, "kind")].add(bucket_of_piece(piece));
    devices[attempt] = integer_field(piece, "devices");
  }
  std::string text;
  for (auto& [attempt, buckets] : attempts) {
    const std::int64_t all = sum_of(buckets, &Bucket::device_ms);
    Table table = bucket_table();
    for (const auto& [kind, name] : kBuckets)
      if (buckets.contains(kind)) add_row(table, name, buckets[kind], all, true);
    text += fmt::format("\nattempt {}, {} device{}, {}\n{}", attempt, devices[attempt],
                        devices[attempt] == 1 ? "" : "s", human_ms(sum_of(buckets, &Bucket::wall_ms)),
                        table.render(terminal));
  }
  return text;
}

std::string ledger_table_text(const json& answer, const Terminal& terminal) {
  static const std::vector<std::pair<const char*, std::vector<const char*>>> kColumns{
      {"STEPS", {"stepping"}},
      {"AGAIN", {"lost"}},
      {"START", {"launching", "rendezvous", "loading"}},
      {"EVALUATE", {"evaluating"}},
      {"SAVE", {"checkpointing"}},
      {"STOP", {"stopping"}},
      {"RUN", {"running"}},
      {"UNKNOWN", {"unknown"}}};
  const std::string by = text_field(answer, "by");
  std::string title = by;
  std::ranges::transform(title, title.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  std::vector<Column> columns{
      {title, false, true, 12}, {"JOBS", true}, {"HELD, HOURS", true}, {"GOODPUT", true}};
  int spare = 0;
  for (const auto& [name, kinds] : kColumns) columns.push_back({name, true, false, 0, ++spare});
  columns.push_back({"WAITED, HOURS", true, false, 0, ++spare});
  Table table(std::move(columns));
  const auto add = [&](const json& row, std::string key) {
    std::map<std::string, std::int64_t> sums;
    for (const json& total : row.at("totals"))
      sums[text_field(total, "kind")] += integer_field(total, "device_ms");
    const std::int64_t held = integer_field(row, "held_device_ms");
    if (const std::string name = text_field(row, "name"); !name.empty()) key += " " + name;
    std::vector<Cell> cells{{key},
                            {human_count(integer_field(row, "jobs"))},
                            {device_hours(held)},
                            {percent(field(row, "goodput"))}};
    for (const auto& [name, kinds] : kColumns) {
      std::int64_t sum = 0;
      for (const char* kind : kinds) sum += sums[kind];
      cells.push_back({sum == 0 ? "–" : percent(sum, held)});
    }
    cells.push_back({device_hours(sums["waiting"] + sums["backing_off"])});
    table.add(std::move(cells));
  };
  for (const json& row : answer.at("rows")) {
    const std::string key = text_field(row, "key");
    add(row, key.empty() ? "(waiting)" : key);
  }
  if (table.empty()) return "No job has taken time yet.\n";
  const std::int64_t count = integer_field(answer, "count");
  add(answer.at("all"), count == std::ssize(answer.at("rows")) ? "all" : fmt::format("all {}", count));
  return table.render(terminal);
}

}  // namespace podium::cli
