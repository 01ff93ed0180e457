-- The API key that something was done with; neither an actor nor a key means the operator's command line (product/account).
ALTER TABLE account_audit ADD COLUMN key_id {id};
