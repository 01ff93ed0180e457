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
		INSERT INTO node (id, name, hostname, region, started_at, seen_at, sources, receives, clock_ahead)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (id) DO UPDATE
		SET name = excluded.name, hostname = excluded.hostname, region = excluded.region, started_at = excluded.started_at,
			seen_at = excluded.seen_at, sources = excluded.sources, receives = excluded.receives,
			clock_ahead = excluded.clock_ahead, draining_at = NULL`,
		n.ID, n.Name, n.Hostname, n.Region, n.StartedAt, n.SeenAt, string(sources), n.Receives, n.Ahead.Microseconds())
	return err
}

func scanNode(s db.Scanner) (Node, error) {
	var n Node
	var sources, standing string
	var ahead int64
	if err := s.Scan(&n.ID, &n.Name, &n.Hostname, &n.Region, db.Time(&n.StartedAt), db.Time(&n.SeenAt), &sources, db.Time(&n.DrainingAt), &standing, &n.Receives, &ahead); err != nil {
		return n, err
	}
	n.Ahead = time.Duration(ahead) * time.Microsecond
	if err := json.Unmarshal([]byte(standing), &n.Standing); err != nil {
		return n, fmt.Errorf("standing of node %s: %w", n.ID, err)
	}
	return n, json.Unmarshal([]byte(sources), &n.Sources)
}

const columns = `id, name, hostname, region, started_at, seen_at, sources, draining_at, standing, receives, clock_ahead`

func selectNode(tx *db.Tx, id ID) (Node, error) {
	return db.One(tx, scanNode, `
		SELECT `+columns+` FROM node
		WHERE id = $1`, id)
}

func selectNodes(tx *db.Tx, limit, offset int) ([]Node, error) {
	return db.All(tx, scanNode, `
		SELECT `+columns+` FROM node
		ORDER BY name, id
		LIMIT $1 OFFSET $2`, limit, offset)
}

func selectRegions(tx *db.Tx) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT DISTINCT region FROM node
		ORDER BY region`)
}

func countNodes(tx *db.Tx) (int64, error) {
	return db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM node`)
}

func deleteGone(tx *db.Tx, before time.Time) error {
	_, err := tx.Exec(`DELETE FROM node WHERE seen_at < $1`, before)
	return err
}

// updateAhead writes how far a node's clock is ahead, if it has said that it is there.
func updateAhead(tx *db.Tx, id ID, ahead time.Duration) error {
	_, err := tx.Exec(`
		UPDATE node SET clock_ahead = $1
		WHERE id = $2`, ahead.Microseconds(), id)
	return err
}

// updateDraining marks a node that is about to stop.
func updateDraining(tx *db.Tx, id ID) error {
	_, err := tx.Exec(`
		UPDATE node SET draining_at = $1
		WHERE id = $2`, tx.Now(), id)
	return err
}

func updateStanding(tx *db.Tx, id ID, look Standing) error {
	raw, err := json.Marshal(look)
	if err != nil {
		return fmt.Errorf("encode standing: %w", err)
	}
	_, err = tx.Exec(`
		UPDATE node SET standing = $1
		WHERE id = $2`, string(raw), id)
	return err
}

func countSeen(tx *db.Tx, since time.Time) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM node
		WHERE seen_at >= $1 AND draining_at IS NULL`, since)
}
