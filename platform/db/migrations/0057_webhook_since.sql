-- The number of the newest event when an endpoint was made: it hears of what comes after it, whatever the clocks of the nodes say. Endpoints
-- from before go by the time.
ALTER TABLE webhook ADD COLUMN since_event BIGINT;
