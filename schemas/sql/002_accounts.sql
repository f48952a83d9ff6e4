-- Whose share, quota and limit a job counts against.
ALTER TABLE jobs ADD COLUMN account TEXT NOT NULL DEFAULT 'default';
