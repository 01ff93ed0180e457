package db

import "slices"

// Watch lets hear know of every statement before it runs, in the words of docs/sql.md, until the returned function is called. One at a
// time can watch. Tests do, to ask the engine how it goes about what the program really asks of it.
func (d *DB) Watch(hear func(query string, args []any)) (stop func()) {
	d.watcher.Store(&hear)
	return func() { d.watcher.Store(nil) }
}

func (tx *Tx) tell(query string, args []any) {
	if hear := tx.db.watcher.Load(); hear != nil {
		(*hear)(query, slices.Clone(args)) // they are changed in place for the engine
	}
}
