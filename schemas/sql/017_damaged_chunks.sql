-- Chunks whose points could not be read when they had to be written anew, and open rows (NULL last_step) likewise: out
-- of the way, with their bytes as they are. Nothing reads them.
CREATE TABLE damaged_chunks (
  id         INTEGER PRIMARY KEY,
  series     INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  last_step  INTEGER,
  count      INTEGER NOT NULL,
  blocks     BLOB,
  points     BLOB  -- NULL where they were gone
);
