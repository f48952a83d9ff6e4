-- The ledger of a few days is read without that of all others.
CREATE INDEX ledger_totals_by_day ON ledger_totals (day, job);
