-- Runs that programs elsewhere log over MLflow's REST API. Such a run is a job that nobody schedules; jobs are runs to MLflow, too.
ALTER TABLE jobs ADD COLUMN tracked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN user TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;  -- left out of lists
ALTER TABLE jobs ADD COLUMN run_group INTEGER NOT NULL DEFAULT 0;

-- MLflow's experiments. All experiments of a name are one.
CREATE TABLE run_groups (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL UNIQUE,
  artifacts  TEXT NOT NULL DEFAULT '',  -- where its runs' artifacts go; '': to this coordinator
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  deleted    INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE run_group_tags (
  run_group INTEGER NOT NULL,
  key       TEXT NOT NULL,
  value     TEXT NOT NULL,
  PRIMARY KEY (run_group, key)
) WITHOUT ROWID;

CREATE TABLE params (
  job   INTEGER NOT NULL,
  key   TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (job, key)
) WITHOUT ROWID;
CREATE TABLE tags (
  job   INTEGER NOT NULL,
  key   TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (job, key)
) WITHOUT ROWID;
CREATE TABLE run_inputs (
  job   INTEGER NOT NULL,
  kind  TEXT NOT NULL,   -- dataset | model
  id    TEXT NOT NULL,   -- of a dataset its name and digest
  body  TEXT NOT NULL,   -- JSON, as MLflow writes it
  PRIMARY KEY (job, kind, id)
) WITHOUT ROWID;

-- Points at a step at which the series has one already. `bits` are the value's, in the order of the values.
CREATE TABLE repeated_points (
  series  INTEGER NOT NULL,
  step    INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  bits    INTEGER NOT NULL,
  PRIMARY KEY (series, step, time_ms, bits)
) WITHOUT ROWID;

-- The values of a job's spec, and what else MLflow's clients ask of a run, as they are written when it is submitted.
CREATE VIEW submitted_params AS
SELECT jobs.id AS job, replace(substr(fullkey, 3), '"', '') AS key,
       CASE leaf.type WHEN 'text' THEN leaf.value WHEN 'array' THEN leaf.value ELSE jobs.spec -> fullkey END AS value
FROM jobs, json_tree(CASE WHEN json_valid(jobs.spec) THEN jobs.spec ELSE '{}' END) AS leaf
WHERE NOT jobs.tracked AND leaf.type NOT IN ('object', 'null') AND instr(fullkey, '[') = 0
  AND fullkey NOT LIKE '$.labels.%' AND fullkey <> '$.name';
CREATE VIEW submitted_tags AS
SELECT id AS job, 'mlflow.runName' AS key, name AS value FROM jobs WHERE NOT tracked
UNION ALL SELECT id, 'mlflow.user', account FROM jobs WHERE NOT tracked
UNION ALL SELECT id, 'podium.job', CAST(id AS TEXT) FROM jobs WHERE NOT tracked
UNION ALL SELECT jobs.id, 'podium.study', CAST(experiment AS TEXT) FROM jobs JOIN experiments e ON e.id = experiment
  WHERE NOT tracked AND NOT listed AND (SELECT count(*) FROM (SELECT 1 FROM jobs j WHERE j.experiment = e.id LIMIT 2)) > 1
UNION ALL SELECT jobs.id, 'mlflow.source.git.commit', source ->> '$.commit' FROM jobs JOIN experiments e ON e.id = experiment
  WHERE NOT tracked AND CASE WHEN json_valid(source) THEN source ->> '$.commit' IS NOT NULL END
UNION ALL SELECT jobs.id, label.key, label.value FROM jobs, json_each(CASE WHEN json_valid(jobs.labels) THEN jobs.labels ELSE '{}' END) AS label WHERE NOT tracked;

INSERT INTO run_groups VALUES (0, 'Default', '', unixepoch() * 1000, unixepoch() * 1000, 0);
INSERT OR IGNORE INTO run_groups (name, created_ms, updated_ms)
SELECT name, min(created_ms), max(created_ms) FROM experiments GROUP BY name ORDER BY min(id);
UPDATE jobs SET run_group = (SELECT run_groups.id FROM experiments JOIN run_groups ON run_groups.name = experiments.name
                             WHERE experiments.id = jobs.experiment);
CREATE INDEX jobs_by_run_group ON jobs (run_group, id);
CREATE INDEX tracked_by_run_group ON jobs (run_group, id) WHERE tracked;
INSERT OR IGNORE INTO params SELECT job, key, value FROM submitted_params;
INSERT OR IGNORE INTO tags SELECT job, key, value FROM submitted_tags;
