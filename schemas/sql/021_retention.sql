-- How long what is kept of ended jobs for a time only is kept, of the experiments of a name; NULL: as of all others
-- (coordinator/store/retention.h).
CREATE TABLE retention_rules (
  experiment     TEXT PRIMARY KEY,
  points_ms      INTEGER,
  history_ms     INTEGER,
  logs_ms        INTEGER,
  checkpoints_ms INTEGER
) WITHOUT ROWID;

CREATE INDEX damaged_by_series ON damaged_chunks (series);
