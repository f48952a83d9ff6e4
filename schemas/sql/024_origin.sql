-- The checkpoint that a job's first weights are of (common/model/origin.h), as its newest attempt told.
CREATE TABLE origins (
  job  INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  step INTEGER NOT NULL,
  xxh3 TEXT NOT NULL
);

-- Of a checkpoint that was the best of its job when it was told, by what.
ALTER TABLE checkpoints ADD COLUMN best_metric TEXT;
ALTER TABLE checkpoints ADD COLUMN best_value REAL;

-- Whether a spec lists its jobs: such an experiment is no study.
ALTER TABLE experiments ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;

-- As before, but that a benchmark's model is told apart by the checkpoint that it begins with, however a spec names it.
DROP VIEW reached_runs;
CREATE VIEW reached_runs AS
SELECT
  run.id AS job,
  CASE WHEN run.command
    THEN json_object('command', json_extract(run.spec, '$.command'), 'target', json_extract(run.spec, '$.target'))
    ELSE json_object('task', json_extract(run.spec, '$.training.task'),
                     'model', json((
                       SELECT CASE WHEN origins.job IS NULL THEN model
                                   ELSE json_set(json_remove(model, '$.init'), '$.origin', origins.xxh3) END
                       FROM (SELECT json_remove(json_extract(run.spec, '$.model'), '$.dropout', '$.attention_dropout',
                                                '$.initializer_range') AS model)
                       LEFT JOIN origins ON origins.job = run.id)),
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
