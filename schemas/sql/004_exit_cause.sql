-- What ended a task (common/model/exit_cause.h). Of those that ended before it was kept, nobody knows better.
ALTER TABLE tasks ADD COLUMN exit_cause TEXT NOT NULL DEFAULT 'program';
