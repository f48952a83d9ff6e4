-- The newest attempt of the job that a node has told of and that an older copy of the database, restored, lacks.
ALTER TABLE jobs ADD COLUMN attempts_told INTEGER NOT NULL DEFAULT 0;
