-- The author and the recipients of received mail, in lower case as db.Contains asks for (product/inbound). What came before has neither.
ALTER TABLE inbound_received ADD COLUMN from_text TEXT;
ALTER TABLE inbound_received ADD COLUMN to_text TEXT;
