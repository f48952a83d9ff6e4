-- Runs that have reached their target, with what the record board judges them by (coordinator/tracking/board.h): one row a
-- job, written in the transaction that took the target in, for what a run was until then never changes.
CREATE TABLE board_runs (
  job           INTEGER PRIMARY KEY,
  benchmark     TEXT NOT NULL,     -- its identity, JSON
  started_ms    INTEGER NOT NULL,  -- its first attempt
  reached_ms    INTEGER NOT NULL,
  attempts      INTEGER NOT NULL,
  devices       TEXT NOT NULL,     -- here to `versions`: JSON lists of the different ones, ascending
  nodes         TEXT NOT NULL,
  models        TEXT NOT NULL,     -- of devices of the job's kind
  versions      TEXT NOT NULL,     -- of the agents
  artificial    INTEGER NOT NULL,  -- some device was made up
  shared        TEXT               -- JSON list of the jobs that held devices of its nodes at the same time; NULL: not known
);
CREATE INDEX board_runs_by_benchmark ON board_runs (benchmark, reached_ms);

-- What ran at the same time as a job of today is found among those that have just ended.
CREATE INDEX attempts_by_end ON attempts (coalesce(ended_ms, 9223372036854775807));

CREATE VIEW reached_runs AS
SELECT
  run.id AS job,
  CASE WHEN run.command
    THEN json_object('command', json_extract(run.spec, '$.command'), 'target', json_extract(run.spec, '$.target'))
    ELSE json_object('task', json_extract(run.spec, '$.training.task'),
                     'model', json_remove(json_extract(run.spec, '$.model'), '$.dropout', '$.attention_dropout',
                                          '$.initializer_range'),
                     'data', json_extract(run.spec, '$.data'),
                     'evaluate', json_remove(json_extract(run.spec, '$.evaluate'), '$.every'),
                     'target', json_extract(run.spec, '$.target'))
  END AS benchmark,
  run.started_ms,
  run.target_reached_ms AS reached_ms,
  (SELECT count(*) FROM attempts WHERE attempts.job = run.id AND created_ms <= run.target_reached_ms) AS attempts,
  (SELECT json_group_array(devices) FROM (
     SELECT DISTINCT (SELECT sum(1 + json_array_length(more_devices)) FROM tasks
                      WHERE tasks.job = attempts.job AND tasks.attempt = attempts.number) AS devices
     FROM attempts WHERE attempts.job = run.id AND created_ms <= run.target_reached_ms ORDER BY 1)) AS devices,
  (SELECT json_group_array(node) FROM (
     SELECT DISTINCT node FROM tasks JOIN attempts ON attempts.job = tasks.job AND attempts.number = tasks.attempt
     WHERE tasks.job = run.id AND created_ms <= run.target_reached_ms ORDER BY 1)) AS nodes,
  (SELECT json_group_array(model) FROM (
     SELECT DISTINCT json_extract(device.value, '$[1]') AS model
     FROM run_hardware, json_each(run_hardware.devices) AS device
     WHERE run_hardware.job = run.id AND json_extract(device.value, '$[0]') = run.kind ORDER BY 1)) AS models,
  (SELECT json_group_array(agent_version) FROM (
     SELECT DISTINCT agent_version FROM run_hardware WHERE run_hardware.job = run.id ORDER BY 1)) AS versions,
  EXISTS (SELECT 1 FROM run_hardware, json_each(run_hardware.devices) AS device
          WHERE run_hardware.job = run.id AND json_extract(device.value, '$[2]')) AS artificial,
  (SELECT json_group_array(job) FROM (
     SELECT DISTINCT around.job AS job
     FROM attempts AS around INDEXED BY attempts_by_end
     WHERE coalesce(around.ended_ms, 9223372036854775807) >
           +(SELECT min(created_ms) FROM attempts AS mine WHERE mine.job = run.id)
       AND around.created_ms < run.target_reached_ms AND around.job != run.id
       AND EXISTS (
         SELECT 1 FROM tasks AS its_task
         CROSS JOIN attempts AS mine ON mine.job = run.id
           AND around.created_ms < min(coalesce(mine.ended_ms, run.target_reached_ms), run.target_reached_ms)
           AND coalesce(around.ended_ms, 9223372036854775807) > mine.created_ms
         CROSS JOIN tasks AS my_task ON my_task.job = mine.job AND my_task.attempt = mine.number
           AND my_task.node = its_task.node
         WHERE its_task.job = around.job AND its_task.attempt = around.number)
     ORDER BY 1)) AS shared
FROM jobs AS run
WHERE run.target_reached_ms > run.started_ms;

-- What the nodes of a job were like when each attempt was made, for reached_runs.
CREATE VIEW run_hardware AS
SELECT tasks.job AS job, node_hardware.agent_version AS agent_version, node_hardware.devices AS devices
FROM tasks JOIN attempts ON attempts.job = tasks.job AND attempts.number = tasks.attempt
JOIN jobs ON jobs.id = tasks.job
JOIN node_hardware ON node_hardware.node = tasks.node AND node_hardware.since_ms =
  (SELECT max(since_ms) FROM node_hardware AS at WHERE at.node = tasks.node AND at.since_ms <= attempts.created_ms)
WHERE jobs.target_reached_ms IS NULL OR attempts.created_ms <= jobs.target_reached_ms;

-- Of runs of before in a large database who shared their nodes is not looked up: that takes hours.
INSERT INTO board_runs
SELECT job, benchmark, started_ms, reached_ms, attempts, devices, nodes, models, versions, artificial,
       CASE WHEN (SELECT count(*) FROM attempts) <= 5000 THEN shared END
FROM reached_runs;
