package main

import (
	"encoding/json"
	"io"

	"github.com/firncache/firn/bench/samples"
)

// An emitter writes the samples of a child process, one JSON list for each
// group that belongs together.
type emitter struct {
	w   io.Writer
	err error // the first error; nothing is written after it
}

func (e *emitter) emit(group ...samples.Sample) {
	if e.err == nil {
		e.err = json.NewEncoder(e.w).Encode(group)
	}
}
