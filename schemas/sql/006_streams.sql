-- Of a stream of events: whether the bytes from `next` on still belong to a line that is too long to be taken, and
-- how many lines were left out.
ALTER TABLE stream_offsets ADD COLUMN skipping INTEGER NOT NULL DEFAULT 0;
ALTER TABLE stream_offsets ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;

-- What a list of metrics shows, so that no points need be counted: how many steps were ever written, the first of
-- them and the farthest.
ALTER TABLE series ADD COLUMN points INTEGER NOT NULL DEFAULT 0;
ALTER TABLE series ADD COLUMN first_step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE series ADD COLUMN top_step INTEGER NOT NULL DEFAULT 0;
UPDATE series SET
  points = (SELECT count(*) FROM points WHERE series = series.id),
  first_step = coalesce((SELECT min(step) FROM points WHERE series = series.id), 0),
  top_step = coalesce((SELECT max(step) FROM points WHERE series = series.id), 0);

-- For what is kept of ended jobs for a time only.
CREATE INDEX jobs_by_end ON jobs (ended_ms) WHERE ended_ms IS NOT NULL;
