package firn_test

import "log/slog"

// What a cache tells of the faults that its tests make is not told.
func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }
