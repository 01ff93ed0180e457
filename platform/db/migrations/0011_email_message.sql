-- A message that came ready made (product/email): its bytes, here if they are few, else in the blob store.
ALTER TABLE email_content ADD COLUMN raw {blob};
ALTER TABLE email_content ADD COLUMN raw_blob TEXT;
CREATE INDEX email_content_raw_blob ON email_content (raw_blob) WHERE raw_blob IS NOT NULL;
