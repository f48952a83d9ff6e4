-- Sweeps that end their losing trials: the rule, to which rung each trial was promoted, and what it told at each.
CREATE TABLE sweeps (experiment INTEGER PRIMARY KEY, rule TEXT NOT NULL);

CREATE TABLE trials (
  job INTEGER PRIMARY KEY,
  rung INTEGER NOT NULL DEFAULT 1,  -- that it trains to; one more than there are: to its end
  paused INTEGER NOT NULL DEFAULT 0
);

-- value: NULL where it was not a number
CREATE TABLE rung_reports (
  job INTEGER NOT NULL,
  rung INTEGER NOT NULL,
  step INTEGER NOT NULL,
  value REAL,
  PRIMARY KEY (job, rung)
) WITHOUT ROWID;
