-- What an email is about, if recipients can choose that (product/email; the topics are those of product/audience).
ALTER TABLE email ADD COLUMN topic_id {id};
