-- Lists leave out what is deleted, and counts what is tracked: the indexes tell both without the rows.
DROP INDEX jobs_by_state;
DROP INDEX jobs_by_experiment;
CREATE INDEX jobs_by_state ON jobs (state, id, deleted, tracked);
CREATE INDEX jobs_by_experiment ON jobs (experiment, id, deleted);

-- From when a job's data is kept: of a run that a program elsewhere logs its end may lie before Podium knew of it.
ALTER TABLE jobs ADD COLUMN done_ms INTEGER AS (CASE WHEN tracked THEN max(ended_ms, submitted_ms) ELSE ended_ms END);
CREATE INDEX jobs_by_done ON jobs (done_ms) WHERE done_ms IS NOT NULL;
