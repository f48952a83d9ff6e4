-- What webhooks have not been told yet: a row for each notice and webhook, written in the transaction of what it tells and
-- deleted once it is delivered or given up. Ids are never used again, so that a reader can go on behind the last it knows.
CREATE TABLE webhook_queue (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook  TEXT NOT NULL,     -- its name
  subject  TEXT NOT NULL,     -- notices of one job or node keep their order
  at_ms    INTEGER NOT NULL,  -- when the row was written; what it tells may be older by any clock
  notice   TEXT NOT NULL,     -- the id that the receiver sees, the same for all webhooks
  type     TEXT NOT NULL,
  body     TEXT NOT NULL      -- JSON, as it is sent
);
CREATE INDEX webhook_queue_by_webhook ON webhook_queue (webhook, id);

-- How many notices a full queue has lost.
CREATE TABLE webhook_losses (
  webhook  TEXT PRIMARY KEY,
  notices  INTEGER NOT NULL
) WITHOUT ROWID;
