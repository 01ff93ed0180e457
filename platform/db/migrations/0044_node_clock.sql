-- How many microseconds the clock of a node was ahead of the database's when they were last compared (product/node).
ALTER TABLE node ADD COLUMN clock_ahead BIGINT NOT NULL DEFAULT 0;
