-- What a job's devices drew (coordinator/tracking/energy.h), by the minute in which it was measured.
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
