package db

import (
	"context"

	"postrider/world"
)

// span follows a transaction that is part of traced work. The returned function ends it with what came of it.
func (d *DB) span(ctx context.Context, name string) (context.Context, func(error)) {
	if d.tracer == nil {
		return ctx, unfollowed
	}
	ctx, span := d.tracer.Begin(ctx, name, world.Inside)
	span.Text("db.system.name", d.dialect.system)
	return ctx, func(err error) {
		if err != nil {
			span.Fail("transaction failed") // the error itself may name values
		}
		span.End()
	}
}

func unfollowed(error) {}
