// The time ledger: every device-second of a job, from its submission to its end, in exactly one bucket. Pure.
//
// The coordinator marks where a job is (JobMark). Rank 0 of an attempt reports what training does
// (PhaseMark), which refines the time from the attempt's creation until it is told to stop or ends. A waiting
// job counts with the fewest devices that it asks for, an attempt with all its devices until its end. The
// pieces sum up to devices × time, to the millisecond.
//
//   held    = all but waiting and backing_off: is_held
//   goodput = stepping / (held − running − unknown), of device time: of the programs that tell no steps, and
//             of time that nobody knows, nobody can say what it moved forward; none where only such ran
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/time.h"

namespace podium {

enum class LedgerKind {
  waiting,        // for its start; the detail is the code of its first blocker (core/blocker.h)
  backing_off,    // it failed several times soon after its start
  launching,      // until all of its tasks run, or rank 0 has reported
  rendezvous,     // the ranks meet
  loading,        // text, weights, a checkpoint
  stepping,       // steps that count
  lost,           // steps that a later attempt took again
  evaluating,     // on held-out data
  checkpointing,  // only what training waited for
  running,        // a program that does not report what it does
  stopping,       // the detail is why (StopCause); "" where the program left by itself
  unknown         // not recorded
};

bool is_held(LedgerKind kind);  // whether devices are held in it

std::string_view to_string(LedgerKind kind);
LedgerKind ledger_kind_from(std::string_view text);  // throws std::invalid_argument

enum class JobMarkKind { waiting, launching, started, stopping, ended };

std::string_view to_string(JobMarkKind kind);
JobMarkKind job_mark_kind_from(std::string_view text);  // throws std::invalid_argument

// The job's place from this moment on.
struct JobMark {
  Time at;
  JobMarkKind kind = JobMarkKind::waiting;
  int attempt = 0;          // of `launching`, and so is what follows until it waits again
  int devices = 0;          // of `launching`: that the attempt holds
  std::string detail = {};  // of `waiting` and `stopping`

  bool operator==(const JobMark&) const = default;
};

// What training does from this moment on, as rank 0 reports it. `step`: steps finished by then.
struct PhaseMark {
  int attempt = 0;
  Time at;
  LedgerKind phase = LedgerKind::unknown;
  std::optional<std::int64_t> step = {};

  bool operator==(const PhaseMark&) const = default;
};

struct LedgerRows {
  bool command = false;           // a user's own program: `running` until it reports phases
  int devices = 1;                // the fewest that the job asks for
  std::vector<JobMark> marks;     // in the order in which they were made
  std::vector<PhaseMark> phases;  // by attempt, in the order of the reports
};

struct LedgerPiece {
  Time from, to;
  LedgerKind kind = LedgerKind::unknown;
  std::string detail = {};
  int attempt = 0;  // 0: while it waits
  int devices = 1;
  std::optional<std::int64_t> first_step = {}, last_step = {};  // finished at its begin and at its end
  int merged = 1;  // how many pieces it stands for; its kind is that of the longest

  Duration wall() const { return to - from; }
  std::int64_t device_ms() const { return wall().count() * devices; }
  bool operator==(const LedgerPiece&) const = default;
};

// Returns the pieces by time. Pieces without length are left out; time that runs backwards (a clock that was
// set) counts as nothing. Where the last step of a stepping piece is not known, it counts as lost only if it
// began beyond the step from which training was resumed.
std::vector<LedgerPiece> make_ledger(const LedgerRows& rows, Time now);

// Where there are more than `most` pieces, short neighbours are merged until about `most` are left.
std::vector<LedgerPiece> merge_short(const std::vector<LedgerPiece>& pieces, int most);

struct LedgerTotal {
  LedgerKind kind = LedgerKind::unknown;
  std::string detail = {};
  int times = 0;
  Duration wall{};
  std::int64_t device_ms = 0;
  Duration longest{};
  Time longest_from;

  bool operator==(const LedgerTotal&) const = default;
};

// Sorted by kind, then by detail.
std::vector<LedgerTotal> totals_of(const std::vector<LedgerPiece>& pieces);

// Device milliseconds of any jobs, by kind and detail.
using LedgerSums = std::map<std::pair<LedgerKind, std::string>, std::int64_t>;

LedgerSums sums_of(const std::vector<LedgerPiece>& pieces);
std::int64_t held_ms(const LedgerSums& sums);
// Nothing where it is not known of any device time whether it was stepping.
std::optional<double> goodput(const LedgerSums& sums);

// A job's time in one bucket on one day (UTC, since 1970).
struct LedgerCell {
  int attempt = 0;
  std::int64_t day = 0;
  LedgerKind kind = LedgerKind::unknown;
  std::string detail = {};
  int devices = 1;

  auto operator<=>(const LedgerCell&) const = default;
};

inline constexpr Duration kLedgerDay = std::chrono::hours(24);
inline std::int64_t ledger_day(std::int64_t millis) { return millis / kLedgerDay.count(); }

std::map<LedgerCell, Duration> sums_by_day(const std::vector<LedgerPiece>& pieces);

}  // namespace podium
