package db

// postgresHabits tell PostgreSQL how the rows of a table live, so that it cleans the table when that is due. Its own rule waits until a
// fifth of a table is dead, which is never for a queue and too late for a hundred million events.
var postgresHabits = map[string]string{
	// Rows of a queue live for seconds: its size says nothing about how many are dead, so it is cleaned after a fixed number of them,
	// without pauses, and with room left in each page for new versions beside the old.
	"churning": `ALTER TABLE NAME SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
		autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
		autovacuum_vacuum_insert_scale_factor = 0.05)`,
	// Rows that are written once, read by index, and removed by the hundred thousand when their time is over. Looked at often, so that
	// what is dead is used again before the table grows for it, that an index alone can answer, and that plans know its newest rows.
	"growing": `ALTER TABLE NAME SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000,
		autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 50000,
		autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 10000)`,
	// Few rows that change with every message. New versions find room in the page of the old one, and no index is touched.
	"counting": `ALTER TABLE NAME SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
		autovacuum_vacuum_cost_delay = 0)`,
}
