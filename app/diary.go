package app

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"go.uber.org/zap/zapcore"
)

// diary lets a library that logs by zap write into our log. What it calls information is detail here.
type diary struct{ log *slog.Logger }

func newDiary(log *slog.Logger) zapcore.Core { return diary{log} }

func slogLevel(level zapcore.Level) slog.Level {
	switch {
	case level >= zapcore.ErrorLevel:
		return slog.LevelError
	case level == zapcore.WarnLevel:
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// Enabled tells whether the log wants lines of the level.
func (d diary) Enabled(level zapcore.Level) bool {
	return d.log.Enabled(context.Background(), slogLevel(level))
}

// With returns a diary whose lines have the fields.
func (d diary) With(fields []zapcore.Field) zapcore.Core {
	return diary{d.log.With(attributes(fields)...)}
}

// Check asks to be given the line if it is wanted.
func (d diary) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !d.Enabled(entry.Level) {
		return checked
	}
	return checked.AddCore(entry, d)
}

// Write writes a line.
func (d diary) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	d.log.Log(context.Background(), slogLevel(entry.Level), "certificates: "+entry.Message, attributes(fields)...)
	return nil
}

// Sync has nothing to do: nothing is held back.
func (diary) Sync() error { return nil }

func attributes(fields []zapcore.Field) []any {
	encoder := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(encoder)
	}
	all := make([]any, 0, 2*len(encoder.Fields))
	for _, name := range slices.Sorted(maps.Keys(encoder.Fields)) {
		all = append(all, name, encoder.Fields[name])
	}
	return all
}
