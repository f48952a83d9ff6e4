-- The text that a job trained on (common/model/text_identity.h), as its newest attempt told.
CREATE TABLE texts (
  job       INTEGER PRIMARY KEY,
  tokens    INTEGER NOT NULL,
  sentences INTEGER NOT NULL,
  xxh3      TEXT NOT NULL
);
