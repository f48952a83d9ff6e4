#include "coordinator/tracking/ledger.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "common/base/check.h"
#include "common/model/codec.h"

namespace podium {
namespace {

constexpr EnumNames<LedgerKind, 12> kKinds{{{LedgerKind::waiting, "waiting"},
                                            {LedgerKind::backing_off, "backing_off"},
                                            {LedgerKind::launching, "launching"},
                                            {LedgerKind::rendezvous, "rendezvous"},
                                            {LedgerKind::loading, "loading"},
                                            {LedgerKind::stepping, "stepping"},
                                            {LedgerKind::lost, "lost"},
                                            {LedgerKind::evaluating, "evaluating"},
                                            {LedgerKind::checkpointing, "checkpointing"},
                                            {LedgerKind::running, "running"},
                                            {LedgerKind::stopping, "stopping"},
                                            {LedgerKind::unknown, "unknown"}}};

constexpr EnumNames<JobMarkKind, 5> kMarkKinds{{{JobMarkKind::waiting, "waiting"},
                                                {JobMarkKind::launching, "launching"},
                                                {JobMarkKind::started, "started"},
                                                {JobMarkKind::stopping, "stopping"},
                                                {JobMarkKind::ended, "ended"}}};

constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::max();

// What rank 0 told of a stretch of its attempt; the stretch may reach beyond what the coordinator knows of
// the attempt.
struct Told {
  Time from;
  Time to;  // Time::max() where nothing followed
  LedgerKind kind = LedgerKind::unknown;
  std::optional<std::int64_t> first_step, last_step;
};

// By attempt, the step after which training began, where the attempt told one.
std::map<int, std::int64_t> first_steps(const std::vector<PhaseMark>& phases) {
  std::map<int, std::int64_t> steps;
  for (const PhaseMark& mark : phases)
    if (mark.phase == LedgerKind::stepping && mark.step) steps.try_emplace(mark.attempt, *mark.step);
  return steps;
}

// The earliest step to which an attempt after `attempt` went back.
std::int64_t gone_back_to(const std::map<int, std::int64_t>& first_steps, int attempt) {
  std::int64_t step = kNoStep;
  for (auto later = first_steps.upper_bound(attempt); later != first_steps.end(); ++later)
    step = std::min(step, later->second);
  return step;
}

// When an even pace of steps had reached `step`.
Time reached(const Told& told, std::int64_t step) {
  const auto fraction =
      static_cast<double>(step - *told.first_step) / static_cast<double>(*told.last_step - *told.first_step);
  return told.from + Duration(std::llround(static_cast<double>((told.to - told.from).count()) * fraction));
}

void add_stepping(const Told& told, std::int64_t kept_until, std::vector<Told>& out) {
  if (!told.first_step || kept_until == kNoStep) return out.push_back(told);
  Told kept = told, lost = told;
  lost.kind = LedgerKind::lost;
  if (*told.first_step >= kept_until) return out.push_back(lost);
  if (!told.last_step || *told.last_step <= kept_until) return out.push_back(kept);
  kept.to = lost.from = reached(told, kept_until);
  kept.last_step = lost.first_step = kept_until;
  out.push_back(kept);
  out.push_back(lost);
}

std::map<int, std::vector<Told>> told_by_attempt(const std::vector<PhaseMark>& phases) {
  const std::map<int, std::int64_t> first = first_steps(phases);
  std::map<int, std::vector<Told>> all;
  Time last;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const PhaseMark& mark = phases[i];
    const bool begins = i == 0 || phases[i - 1].attempt != mark.attempt;
    const bool ends = i + 1 == phases.size() || phases[i + 1].attempt != mark.attempt;
    Told told{begins ? mark.at : std::max(last, mark.at), Time::max(), mark.phase, mark.step, {}};
    last = told.from;
    if (!ends) {
      told.to = std::max(last, phases[i + 1].at);
      told.last_step = phases[i + 1].step;
    }
    std::vector<Told>& of_attempt = all[mark.attempt];
    if (mark.phase == LedgerKind::stepping)
      add_stepping(told, gone_back_to(first, mark.attempt), of_attempt);
    else
      of_attempt.push_back(told);
  }
  return all;
}

class Builder {
 public:
  explicit Builder(const LedgerRows& rows) : rows_(rows), told_(told_by_attempt(rows.phases)) {}

  std::vector<LedgerPiece> build(Time now) && {
    Time from;
    for (std::size_t i = 0; i < rows_.marks.size(); ++i) {
      const JobMark& mark = rows_.marks[i];
      from = i == 0 ? mark.at : std::max(from, mark.at);
      const bool last = i + 1 == rows_.marks.size();
      const Time to = std::max(from, last ? now : rows_.marks[i + 1].at);
      if (mark.kind == JobMarkKind::waiting) std::tie(attempt_, devices_) = std::pair(0, rows_.devices);
      if (mark.kind == JobMarkKind::launching)
        std::tie(attempt_, devices_) = std::pair(mark.attempt, mark.devices);
      if (mark.kind != JobMarkKind::ended) add_span(from, to, mark, last);
    }
    return std::move(pieces_);
  }

 private:
  // The cell where rank 0 has told nothing. Nobody tells more of an attempt that is over.
  LedgerKind base_of(const JobMark& mark, bool last) const {
    switch (mark.kind) {
      case JobMarkKind::waiting:
        return mark.detail == "back_off" ? LedgerKind::backing_off : LedgerKind::waiting;
      case JobMarkKind::launching:
        return LedgerKind::launching;
      case JobMarkKind::started:
        if (rows_.command) return LedgerKind::running;
        return last || told_.contains(attempt_) ? LedgerKind::rendezvous : LedgerKind::unknown;
      case JobMarkKind::stopping:
        return LedgerKind::stopping;
      case JobMarkKind::ended:
        break;
    }
    PODIUM_CHECK(false, "a job that has ended is in no bucket");
  }

  void add_span(Time from, Time to, const JobMark& mark, bool last) {
    LedgerPiece base{from, to, base_of(mark, last), {}, attempt_, devices_};
    if (base.kind == LedgerKind::waiting || base.kind == LedgerKind::stopping) base.detail = mark.detail;
    const bool refined = mark.kind == JobMarkKind::launching || mark.kind == JobMarkKind::started;
    const auto told = told_.find(attempt_);
    if (refined && told != told_.end())
      for (const Told& phase : told->second) refine(base, to, phase);
    add(base);
  }

  // Takes the part that the phase covers off the front of `base`, and the part before it.
  void refine(LedgerPiece& base, Time end, const Told& phase) {
    if (phase.to <= base.from || phase.from >= end) return;
    LedgerPiece before = base;
    before.to = std::max(base.from, phase.from);
    add(before);
    LedgerPiece piece = base;
    piece.from = before.to;
    piece.to = base.from = std::min(phase.to, end);
    piece.kind = phase.kind;
    piece.first_step = phase.first_step;
    piece.last_step = phase.last_step;
    add(piece);
  }

  void add(const LedgerPiece& piece) {
    if (piece.to <= piece.from) return;
    if (!pieces_.empty()) {
      LedgerPiece& last = pieces_.back();
      if (last.to == piece.from && last.kind == piece.kind && last.detail == piece.detail &&
          last.attempt == piece.attempt && last.devices == piece.devices) {
        last.to = piece.to;
        last.last_step = piece.last_step;
        return;
      }
    }
    pieces_.push_back(piece);
  }

  const LedgerRows& rows_;
  const std::map<int, std::vector<Told>> told_;
  int attempt_ = 0;
  int devices_ = 1;
  std::vector<LedgerPiece> pieces_;
};

LedgerPiece merged(const std::vector<LedgerPiece>& pieces, std::size_t begin, std::size_t end) {
  LedgerPiece whole = pieces[begin];
  if (end - begin == 1) return whole;
  std::map<LedgerKind, Duration> time;
  for (std::size_t i = begin; i < end; ++i) time[pieces[i].kind] += pieces[i].wall();
  whole.to = pieces[end - 1].to;
  whole.kind = std::ranges::max_element(time, {}, [](const auto& entry) { return entry.second; })->first;
  whole.detail.clear();
  whole.last_step = pieces[end - 1].last_step;
  whole.merged = static_cast<int>(end - begin);
  return whole;
}

}  // namespace

bool is_held(LedgerKind kind) { return kind != LedgerKind::waiting && kind != LedgerKind::backing_off; }

std::string_view to_string(LedgerKind kind) { return enum_name(kKinds, kind); }
LedgerKind ledger_kind_from(std::string_view text) { return enum_value(kKinds, text, "bucket"); }

std::string_view to_string(JobMarkKind kind) { return enum_name(kMarkKinds, kind); }
JobMarkKind job_mark_kind_from(std::string_view text) { return enum_value(kMarkKinds, text, "mark"); }

std::vector<LedgerPiece> make_ledger(const LedgerRows& rows, Time now) { return Builder(rows).build(now); }

std::vector<LedgerPiece> merge_short(const std::vector<LedgerPiece>& pieces, int most) {
  if (std::ssize(pieces) <= most) return pieces;
  Duration all{0};
  for (const LedgerPiece& piece : pieces) all += piece.wall();
  // As many long ones as fit into all, as many groups of short ones between them, and as many that grew long.
  const Duration shortest = all / std::max(most / 3, 1);
  std::vector<LedgerPiece> out;
  for (std::size_t begin = 0; begin < pieces.size();) {
    Duration wall = pieces[begin].wall();
    std::size_t end = begin + 1;
    while (wall < shortest && end < pieces.size() && pieces[end].wall() < shortest &&
           pieces[end].from == pieces[end - 1].to && pieces[end].attempt == pieces[begin].attempt)
      wall += pieces[end++].wall();
    out.push_back(merged(pieces, begin, end));
    begin = end;
  }
  return out;
}

std::vector<LedgerTotal> totals_of(const std::vector<LedgerPiece>& pieces) {
  std::map<std::pair<LedgerKind, std::string>, LedgerTotal> totals;
  for (const LedgerPiece& piece : pieces) {
    LedgerTotal& total = totals[{piece.kind, piece.detail}];
    total.kind = piece.kind;
    total.detail = piece.detail;
    ++total.times;
    total.wall += piece.wall();
    total.device_ms += piece.device_ms();
    if (piece.wall() <= total.longest) continue;
    total.longest = piece.wall();
    total.longest_from = piece.from;
  }
  std::vector<LedgerTotal> list;
  for (auto& [key, total] : totals) list.push_back(std::move(total));
  return list;
}

LedgerSums sums_of(const std::vector<LedgerPiece>& pieces) {
  LedgerSums sums;
  for (const LedgerPiece& piece : pieces) sums[{piece.kind, piece.detail}] += piece.device_ms();
  return sums;
}

std::int64_t held_ms(const LedgerSums& sums) {
  std::int64_t held = 0;
  for (const auto& [key, device_ms] : sums)
    if (is_held(key.first)) held += device_ms;
  return held;
}

std::optional<double> goodput(const LedgerSums& sums) {
  std::int64_t known = held_ms(sums), stepping = 0, running = 0;
  for (const auto& [key, device_ms] : sums) {
    if (key.first == LedgerKind::running || key.first == LedgerKind::unknown) known -= device_ms;
    if (key.first == LedgerKind::running) running += device_ms;
    if (key.first == LedgerKind::stepping) stepping += device_ms;
  }
  const bool nobody_tells_steps = running > 0 && stepping == 0;
  if (known == 0 || nobody_tells_steps) return std::nullopt;
  return static_cast<double>(stepping) / static_cast<double>(known);
}

std::map<LedgerCell, Duration> sums_by_day(const std::vector<LedgerPiece>& pieces) {
  std::map<LedgerCell, Duration> sums;
  for (const LedgerPiece& piece : pieces) {
    for (Time from = piece.from; from < piece.to;) {
      const std::int64_t day = std::chrono::floor<std::chrono::days>(from).time_since_epoch().count();
      const Time next = from_millis((day + 1) * kLedgerDay.count());
      const Time to = std::min(piece.to, next);
      sums[{piece.attempt, day, piece.kind, piece.detail, piece.devices}] += to - from;
      from = to;
    }
  }
  return sums;
}

}  // namespace podium
