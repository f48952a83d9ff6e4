-- What every 256 points of a chunk come to, beside its row, so that a long curve is drawn from rows that lie together.
-- NULL in chunks of before: then those of every 64 are read.
ALTER TABLE chunks ADD COLUMN spans BLOB;
