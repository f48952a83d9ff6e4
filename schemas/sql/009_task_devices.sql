-- The devices that a task drives beside `device`, as a JSON list: those of jobs with one process a node.
ALTER TABLE tasks ADD COLUMN more_devices TEXT NOT NULL DEFAULT '[]';
UPDATE tasks SET more_devices = told.more_devices
FROM (SELECT json_extract(events.body, '$.job') AS job, json_extract(events.body, '$.attempt') AS attempt,
             ranks.key AS rank, json_extract(ranks.value, '$.more_devices') AS more_devices
      FROM events, json_each(events.body, '$.allocation.ranks') AS ranks
      WHERE events.type = 'attempt_created' AND events.body LIKE '%"more_devices"%') AS told
WHERE tasks.job = told.job AND tasks.attempt = told.attempt AND tasks.rank = told.rank
  AND told.more_devices IS NOT NULL;
