-- The addresses that a node sends from (product/node).
ALTER TABLE node ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
