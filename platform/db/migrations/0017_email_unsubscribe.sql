-- Mail that carries a link by which its recipients unsubscribe (product/email).
ALTER TABLE email ADD COLUMN list_unsubscribe BOOLEAN NOT NULL DEFAULT FALSE;
