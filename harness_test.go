package firn_test

import (
	goflag "flag"
	"log/slog"

	_ "pgregory.net/rapid" // for its flags
)

func init() {
	// What a cache tells of the faults that its tests make is not printed.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	// A run is like the one before, unless another seed is given.
	if err := goflag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}
