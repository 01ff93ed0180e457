package node

import (
	"encoding/json"
	"fmt"
	"time"

	"postrider/platform/db"
)

func upsertNode(tx *db.Tx, n Node) error {
	sources, err := json.Marshal(n.Sources)
	if err != nil {
		return fmt.Errorf("encode sources: %w", err)
	}
	_, err = tx.Exec(`
		INSERT INTO node (id, name, hostname, region, started_at, seen_at, sources)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE
		SET name = excluded.name, hostname = excluded.hostname, region = excluded.region, started_at = excluded.started_at,
			seen_at = excluded.seen_at, sources = excluded.sources`, n.ID, n.Name, n.Hostname, n.Region, n.StartedAt, n.SeenAt, string(sources))
	return err
}

func scanNode(s db.Scanner) (Node, error) {
	var n Node
	var sources string
	if err := s.Scan(&n.ID, &n.Name, &n.Hostname, &n.Region, db.Time(&n.StartedAt), db.Time(&n.SeenAt), &sources); err != nil {
		return n, err
	}
	return n, json.Unmarshal([]byte(sources), &n.Sources)
}

func selectNode(tx *db.Tx, id ID) (Node, error) {
	return db.One(tx, scanNode, `
		SELECT id, name, hostname, region, started_at, seen_at, sources FROM node
		WHERE id = $1`, id)
}

func selectNodes(tx *db.Tx, limit, offset int) ([]Node, error) {
	return db.All(tx, scanNode, `
		SELECT id, name, hostname, region, started_at, seen_at, sources FROM node
		ORDER BY name, id
		LIMIT $1 OFFSET $2`, limit, offset)
}

func countNodes(tx *db.Tx) (int64, error) {
	return db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM node`)
}

func deleteGone(tx *db.Tx, before time.Time) error {
	_, err := tx.Exec(`DELETE FROM node WHERE seen_at < $1`, before)
	return err
}
