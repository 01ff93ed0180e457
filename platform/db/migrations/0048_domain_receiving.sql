-- Whose mail a name is, asked for every recipient of every message that comes (product/domain).
CREATE INDEX domain_receiving ON domain (name, COALESCE(verified_at, 0) DESC, id) WHERE receiving = TRUE;
