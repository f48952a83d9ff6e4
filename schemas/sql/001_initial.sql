-- The coordinator's database. Times are milliseconds since 1970. A published migration is never edited: add the next.

-- The log: the truth that ClusterState is rebuilt from (coordinator/core/events.h). Append only.
CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  time_ms INTEGER NOT NULL,
  type    TEXT NOT NULL,
  body    TEXT NOT NULL
);

-- The state after event `seq`, so that a start need not replay everything.
CREATE TABLE snapshots (
  seq   INTEGER PRIMARY KEY,
  state TEXT NOT NULL
);

-- Projections of the log, with what the log does not hold.
CREATE TABLE experiments (
  id              INTEGER PRIMARY KEY,
  name            TEXT NOT NULL,
  created_ms      INTEGER NOT NULL,
  idempotency_key TEXT UNIQUE,
  source          TEXT NOT NULL DEFAULT '',  -- JSON
  file            TEXT NOT NULL DEFAULT '',
  spec            TEXT NOT NULL DEFAULT ''   -- YAML
);

CREATE TABLE jobs (
  id            INTEGER PRIMARY KEY,
  experiment    INTEGER NOT NULL REFERENCES experiments (id),
  name          TEXT NOT NULL,
  state         TEXT NOT NULL,
  kind          TEXT NOT NULL,
  devices       INTEGER NOT NULL,
  per_node      INTEGER NOT NULL,
  walltime_ms   INTEGER NOT NULL,
  priority      INTEGER NOT NULL,
  max_restarts  INTEGER NOT NULL,
  command       INTEGER NOT NULL,
  submitted_ms  INTEGER NOT NULL,
  started_ms    INTEGER,
  ended_ms      INTEGER,
  attempt       INTEGER NOT NULL DEFAULT 0,
  reason        TEXT NOT NULL DEFAULT '',
  step          INTEGER,
  steps         INTEGER,
  progress_ms   INTEGER,
  target_metric       TEXT,
  target_at_least     REAL,
  target_at_most      REAL,
  target_reached_ms   INTEGER,
  target_reached_step INTEGER,
  labels        TEXT NOT NULL DEFAULT '{}',  -- JSON
  spec          TEXT NOT NULL DEFAULT '{}'   -- normalised JSON; last, because it is long
);
CREATE INDEX jobs_by_state ON jobs (state, id);
CREATE INDEX jobs_by_experiment ON jobs (experiment, id);

CREATE TABLE attempts (
  job        INTEGER NOT NULL,
  number     INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  started_ms INTEGER,
  ended_ms   INTEGER,
  end        TEXT,
  reason     TEXT NOT NULL DEFAULT '',
  first_step INTEGER,
  last_step  INTEGER,
  secret     TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (job, number)
) WITHOUT ROWID;
CREATE INDEX attempts_alive ON attempts (job) WHERE ended_ms IS NULL;

CREATE TABLE tasks (
  job          INTEGER NOT NULL,
  attempt      INTEGER NOT NULL,
  rank         INTEGER NOT NULL,
  node         TEXT NOT NULL,
  device       INTEGER NOT NULL,
  phase        TEXT NOT NULL,
  pid          INTEGER NOT NULL DEFAULT 0,
  exit_code    INTEGER,
  exit_signal  INTEGER,
  exit_message TEXT,
  PRIMARY KEY (job, attempt, rank)
) WITHOUT ROWID;

-- What happened to a job, for people: events of the log and notes of its tasks.
CREATE TABLE history (
  id      INTEGER PRIMARY KEY,
  job     INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  type    TEXT NOT NULL,
  level   TEXT NOT NULL,
  text    TEXT NOT NULL
);
CREATE INDEX history_by_job ON history (job, id);

-- Metrics. A step logged again by a later attempt replaces the point; last_* are of the newest attempt that wrote.
CREATE TABLE series (
  id         INTEGER PRIMARY KEY,
  job        INTEGER NOT NULL,
  key        TEXT NOT NULL,
  attempt    INTEGER NOT NULL,
  last_step  INTEGER NOT NULL,
  last_ms    INTEGER NOT NULL,
  last_value REAL,     -- NULL is NaN, here and below
  min_value  REAL,
  max_value  REAL,
  UNIQUE (job, key)
);

CREATE TABLE points (
  series  INTEGER NOT NULL,
  step    INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  value   REAL,
  PRIMARY KEY (series, step)
) WITHOUT ROWID;

CREATE TABLE checkpoints (
  job     INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  step    INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  path    TEXT NOT NULL,
  bytes   INTEGER NOT NULL,
  seconds REAL NOT NULL,
  PRIMARY KEY (job, attempt, step)
) WITHOUT ROWID;

-- All bytes of the stream before `next` have had their effect, in the same transaction as that effect.
CREATE TABLE stream_offsets (
  job     INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  rank    INTEGER NOT NULL,
  stream  TEXT NOT NULL,
  next    INTEGER NOT NULL,
  PRIMARY KEY (job, attempt, rank, stream)
) WITHOUT ROWID;
