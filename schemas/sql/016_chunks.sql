-- Points in chunks of up to 4,096, packed (coordinator/store/chunks). The rows of before are packed when the database
-- is opened, series by series, each as soon as its chunks are written; then their table goes.
ALTER TABLE points RENAME TO row_points;

-- Closed chunks: disjoint, each with what its points come to. One is never changed; it is replaced by others where
-- steps are logged again.
CREATE TABLE chunks (
  series      INTEGER NOT NULL,
  first_step  INTEGER NOT NULL,
  last_step   INTEGER NOT NULL,
  points      INTEGER NOT NULL,
  numbers     INTEGER NOT NULL,  -- of the points: those that are not NaN
  sum         REAL,              -- of the numbers
  first_ms    INTEGER NOT NULL,
  first_value REAL,              -- NULL is NaN, here and below
  last_ms     INTEGER NOT NULL,
  last_value  REAL,
  low_step    INTEGER,           -- NULL where all are NaN
  low_ms      INTEGER,
  low_value   REAL,
  high_step   INTEGER,
  high_ms     INTEGER,
  high_value  REAL,
  broken_step INTEGER,           -- the first NaN, NULL without
  broken_ms   INTEGER,
  data        INTEGER NOT NULL,  -- of chunk_data
  PRIMARY KEY (series, first_step)
) WITHOUT ROWID;

CREATE TABLE chunk_data (
  id     INTEGER PRIMARY KEY,
  blocks BLOB NOT NULL,  -- what every 64 of the points come to
  points BLOB NOT NULL
);

-- The open chunk of a series: what came since the last was closed, a row for each time that it was written, all beyond
-- the closed ones and by step.
CREATE TABLE open_points (
  series     INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  count      INTEGER NOT NULL,
  points     BLOB NOT NULL,
  PRIMARY KEY (series, first_step)
) WITHOUT ROWID;
