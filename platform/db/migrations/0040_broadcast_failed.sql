-- A retry lets those wait again who failed, some at a time (product/broadcast).
CREATE INDEX broadcast_recipient_failed ON broadcast_recipient (broadcast_id, state, contact) WHERE state = 'failed';
