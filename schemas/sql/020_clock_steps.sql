-- Where a restart of the coordinator took the machine's clock for another time than the cluster's
-- (coordinator/loop/clock_record.h): times before and after are not of one clock.
CREATE TABLE clock_steps (
  from_ms INTEGER NOT NULL,  -- the newest event before, by the clock of then
  to_ms   INTEGER NOT NULL,  -- the start, by the new one
  step_ms INTEGER NOT NULL   -- forward where it is above 0
);
