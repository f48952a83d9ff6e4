-- What an attempt's devices drew from its start to the end of each minute, so that to read it is to read a row or a few.
-- joules, covered_ms and shared_ms are sums; from_ms and to_ms are of what was measured in the minute itself. Of attempts
-- of jobs that ended a week ago the last minute stays, and those around the time at which the job reached its target or ended.
ALTER TABLE energy RENAME TO minute_energy;
CREATE TABLE energy (
  job        INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  minute     INTEGER NOT NULL,  -- UTC, since 1970
  from_ms    INTEGER NOT NULL,
  to_ms      INTEGER NOT NULL,
  joules     REAL NOT NULL,
  covered_ms INTEGER NOT NULL,  -- of device time
  shared_ms  INTEGER NOT NULL,
  PRIMARY KEY (job, attempt, minute)
) WITHOUT ROWID;
INSERT INTO energy
SELECT job, attempt, minute, from_ms, to_ms, sum(joules) OVER so_far, sum(covered_ms) OVER so_far, sum(shared_ms) OVER so_far
FROM minute_energy WINDOW so_far AS (PARTITION BY job, attempt ORDER BY minute);
DROP TABLE minute_energy;
