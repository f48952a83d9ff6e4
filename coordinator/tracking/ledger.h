// The time ledger: every device-second of a job, from its submission to its end, in exactly one bucket. Pure.
//
// The coordinator marks where a job is (JobMark); rank 0 of an attempt tells what training does (PhaseMark),
// which refines the time from its attempt's creation until the attempt is told to stop or ends. A job that
// waits counts with the fewest devices that it asks for, an attempt with all of its devices until its end.
// The pieces of a job that has not ended sum up to devices × time, to the millisecond.
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
  launching,      // until all of its tasks run, or rank 0 has said something
  rendezvous,     // the ranks meet
  loading,        // text, weights, a checkpoint
  stepping,       // steps that count
  lost,           // steps that a later attempt took again
  evaluating,     // on held-out data
  checkpointing,  // only what training waited for
  running,        // a program that does not tell what it does
  stopping,       // the detail is why (StopCause); "" where the program left by itself
  unknown         // nobody told
};

bool is_held(LedgerKind kind);  // devices were

std::string_view to_string(LedgerKind kind);
LedgerKind ledger_kind_from(std::string_view text);  // throws std::invalid_argument

enum class JobMarkKind { waiting, launching, started, stopping, ended };

std::string_view to_string(JobMarkKind kind);
JobMarkKind job_mark_kind_from(std::string_view text);  // throws std::invalid_argument

// From this moment on the job is there.
struct JobMark {
  Time at;
  JobMarkKind kind = JobMarkKind::waiting;
  int attempt = 0;          // of `launching`, and so is what follows until it waits again
  int devices = 0;          // of `launching`: that the attempt holds
  std::string detail = {};  // of `waiting` and `stopping`

  bool operator==(const JobMark&) const = default;
};

// From this moment on training does this, by the word of rank 0. `step`: that are finished by then.
struct PhaseMark {
  int attempt = 0;
  Time at;
  LedgerKind phase = LedgerKind::unknown;
  std::optional<std::int64_t> step = {};

  bool operator==(const PhaseMark&) const = default;
};

struct LedgerRows {
  bool command = false;           // a program of the user's own: `running` until it tells phases
  int devices = 1;                // the fewest that the job asks for
  std::vector<JobMark> marks;     // in the order in which they were made
  std::vector<PhaseMark> phases;  // by attempt, and in the order in which they were told
};

struct LedgerPiece {
  Time from, to;
  LedgerKind kind = LedgerKind::unknown;
  std::string detail = {};
  int attempt = 0;  // 0: while it waits
  int devices = 1;
  std::optional<std::int64_t> first_step = {}, last_step = {};  // finished at its begin and at its end
  int merged = 1;  // so many pieces in one, of whose kinds the longest is told

  Duration wall() const { return to - from; }
  std::int64_t device_ms() const { return wall().count() * devices; }
  bool operator==(const LedgerPiece&) const = default;
};

// By time. What does not grow is left out: a time that goes back (a clock that was set) counts nothing. Of a
// stepping of which the end is not known, nothing is lost that did not begin beyond the step gone back to.
std::vector<LedgerPiece> make_ledger(const LedgerRows& rows, Time now);

// Where there are more than `most`, neighbours that are short become one until about so many are left.
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

// By kind, and of a kind by detail.
std::vector<LedgerTotal> totals_of(const std::vector<LedgerPiece>& pieces);

// Device milliseconds of any jobs, by kind and detail.
using LedgerSums = std::map<std::pair<LedgerKind, std::string>, std::int64_t>;

LedgerSums sums_of(const std::vector<LedgerPiece>& pieces);
std::int64_t held_ms(const LedgerSums& sums);
// Nothing where no device time is known to have trained or not.
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

std::map<LedgerCell, Duration> sums_by_day(const std::vector<LedgerPiece>& pieces);

}  // namespace podium
