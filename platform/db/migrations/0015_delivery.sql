-- Whose work an item is, so that flows can take turns at being claimed; and what an item waits for, if it was set aside.
ALTER TABLE queue_item ADD COLUMN flow TEXT NOT NULL DEFAULT '';
ALTER TABLE queue_item ADD COLUMN aside TEXT;
CREATE INDEX queue_item_flow ON queue_item (lane, rank, flow, due_at) WHERE lease_owner IS NULL;
CREATE INDEX queue_item_aside ON queue_item (lane, aside, due_at) WHERE lease_owner IS NULL AND aside IS NOT NULL;

-- What a node has learned about the ways its mail takes, and what operators have said about them (product/delivery).
CREATE TABLE delivery_state (
    node       TEXT PRIMARY KEY,
    state      TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);
