-- The ledger: where a job is from a moment on, as the coordinator knows it, and what rank 0 of an attempt tells
-- (coordinator/tracking/ledger.h). Appended, never changed but for the name of a wait that has just begun.
CREATE TABLE job_marks (
  job     INTEGER NOT NULL,
  n       INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  devices INTEGER NOT NULL,
  detail  TEXT NOT NULL,
  PRIMARY KEY (job, n)
) WITHOUT ROWID;

CREATE TABLE phase_marks (
  job     INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  n       INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  phase   TEXT NOT NULL,
  step    INTEGER,
  PRIMARY KEY (job, attempt, n)
) WITHOUT ROWID;

-- Of jobs that have ended: time in each bucket, by day (UTC, since 1970). Of the jobs that are open it is not
-- stored, or no longer true.
CREATE TABLE ledger_totals (
  job     INTEGER NOT NULL,
  attempt INTEGER NOT NULL,  -- 0 while it waited
  day     INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  detail  TEXT NOT NULL,
  devices INTEGER NOT NULL,
  wall_ms INTEGER NOT NULL,
  PRIMARY KEY (job, attempt, day, kind, detail, devices)
) WITHOUT ROWID;
CREATE TABLE ledger_open (job INTEGER PRIMARY KEY);

-- Of what happened before, the times of attempts tell the coarse part: what a training did while it ran is unknown.
INSERT INTO job_marks (job, n, time_ms, kind, attempt, devices, detail)
SELECT job, row_number() OVER (PARTITION BY job ORDER BY attempt_no, place), time_ms, kind, attempt, devices, ''
FROM (
  SELECT id AS job, 0 AS attempt_no, 0 AS place, submitted_ms AS time_ms, 'waiting' AS kind, 0 AS attempt, 0 AS devices
  FROM jobs
  UNION ALL
  SELECT job, number, 1, created_ms, 'launching', number,
         (SELECT coalesce(sum(1 + json_array_length(more_devices)), 1) FROM tasks
          WHERE tasks.job = attempts.job AND tasks.attempt = attempts.number)
  FROM attempts
  UNION ALL
  SELECT job, number, 2, started_ms, 'started', 0, 0 FROM attempts WHERE started_ms IS NOT NULL
  UNION ALL
  SELECT job, number, 3, ended_ms, 'waiting', 0, 0 FROM attempts WHERE ended_ms IS NOT NULL
  UNION ALL
  SELECT id, 1 << 40, 4, ended_ms, 'ended', 0, 0 FROM jobs WHERE ended_ms IS NOT NULL
)
WHERE job IN (SELECT id FROM jobs);
INSERT INTO phase_marks (job, attempt, n, time_ms, phase)
SELECT job, number, 1, started_ms, 'unknown' FROM attempts
WHERE started_ms IS NOT NULL AND job IN (SELECT id FROM jobs WHERE NOT command);
INSERT INTO ledger_open SELECT id FROM jobs;
