-- On how many devices an elastic job may run, as a JSON list, empty for others; and of every job how many its
-- newest attempt holds, 0 where it has had none since this was kept.
ALTER TABLE jobs ADD COLUMN sizes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE jobs ADD COLUMN held_devices INTEGER NOT NULL DEFAULT 0;
