-- Mail that went to many at once is not answered by programs.
ALTER TABLE inbound_received ADD COLUMN bulk BOOLEAN NOT NULL DEFAULT FALSE;
