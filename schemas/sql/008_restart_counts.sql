-- Why an attempt was told to stop (StopCause); '' where it was not, or nobody noted it.
ALTER TABLE attempts ADD COLUMN stop TEXT NOT NULL DEFAULT '';
UPDATE attempts SET stop = 'preempted' WHERE end = 'preempted' AND reason = 'made room for another job';
UPDATE attempts SET stop = 'requeued' WHERE end = 'preempted' AND reason = 'was requeued';

-- What the job's restarts were counted as, each against its own budget (RetryCounts).
ALTER TABLE jobs ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN requeues INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN moves INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET
  failures = json_extract(told.retries, '$.failures'),
  requeues = json_extract(told.retries, '$.requeues'),
  moves = json_extract(told.retries, '$.moves'),
  losses = json_extract(told.retries, '$.losses')
FROM (SELECT json_extract(body, '$.job') AS job, json_extract(body, '$.retries') AS retries, max(seq)
      FROM events WHERE type = 'retry_planned' GROUP BY 1) AS told
WHERE jobs.id = told.job;
