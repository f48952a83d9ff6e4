-- Why the job was started again after the attempt (RestartCause); '' where it was not. Of attempts of before, those
-- that failed may have been told to move or asked to be queued again.
ALTER TABLE attempts ADD COLUMN restart TEXT NOT NULL DEFAULT '';
UPDATE attempts SET restart = CASE
  WHEN end = 'resized' THEN 'resize'
  WHEN end = 'node_lost' THEN 'node_loss'
  WHEN end = 'preempted' AND stop = 'preempted' THEN 'preemption'
  WHEN end = 'preempted' AND stop <> 'requeued' THEN 'node_loss'
  WHEN end = 'failed' THEN 'failure'
  ELSE 'requeue' END
WHERE end IS NOT NULL AND
      (number < (SELECT attempt FROM jobs WHERE id = attempts.job) OR
       'queued' = (SELECT state FROM jobs WHERE id = attempts.job));

ALTER TABLE attempts DROP COLUMN stop;

-- Of the job's restarts only the failures are told as a budget, and they are counted by the attempts besides.
ALTER TABLE jobs DROP COLUMN requeues;
ALTER TABLE jobs DROP COLUMN moves;
ALTER TABLE jobs DROP COLUMN losses;
