-- Whose database this is: the id is made with it, the generation goes up at each start. One row.
CREATE TABLE cluster (
  id         TEXT NOT NULL,
  generation INTEGER NOT NULL,
  folder     TEXT NOT NULL  -- of its jobs, in the nodes' shared folder
);
