-- What a classification reads of its files and learns to tell, beside the rest of its benchmark's identity. A spec that does not say it
-- has the defaults of before. Dropout and the weights of classes are free, as everything that trains the same text in another way.
CREATE VIEW classify_forms AS
SELECT id AS job,
       json_object('classify', json_patch(
         '{"header":true,"sentence":"sentence","label":"label","regression":false}',
         coalesce(json_remove(json_extract(spec, '$.training.classify'), '$.dropout', '$.class_weights'), '{}'))) AS form
FROM jobs WHERE json_extract(spec, '$.training.task') = 'classify';

-- As the board judges them.
CREATE VIEW benchmark_runs AS
SELECT job,
       json_patch(benchmark, coalesce((SELECT form FROM classify_forms WHERE classify_forms.job = reached_runs.job), '{}'))
         AS benchmark,
       started_ms, reached_ms, attempts, devices, nodes, models, versions, artificial, shared
FROM reached_runs;

UPDATE board_runs SET benchmark = json_patch(benchmark, form)
FROM classify_forms WHERE classify_forms.job = board_runs.job;
