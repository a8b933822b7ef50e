package remote

import (
	"context"
	"sync"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/wire"
	"github.com/redis/rueidis"
)

// A batch is sent in parts, each at most wire.MaxBatch commands and batchBytes of what is sent or may
// be answered: a PING waits behind one part, not behind a batch.
const batchBytes = wire.MaxBatch * firstPieceMulti

// byWire groups the names of a batch by their wire, and sends each group: all
// at a time if there are several. Keys without a wire fail.
func (t *sharedTier) byWire(ctx context.Context, n int, name func(i int) string, fail func(i int, err error), ask func(w *wire.Wire, group []item)) {
	ctx, cancel := context.WithTimeout(ctx, t.o.Timeout)
	defer cancel() // of routing alone
	groups := map[*wire.Wire][]item{}
	for i := range n {
		w, slot, err := t.cluster.Route(ctx, name(i))
		if err != nil {
			fail(i, err)
			continue
		}
		groups[w] = append(groups[w], item{i, slot})
	}
	var all sync.WaitGroup
	for w, group := range groups {
		if len(groups) == 1 {
			ask(w, group)
			return
		}
		all.Go(func() { ask(w, group) })
	}
	all.Wait()
}

// item is one key of a batch.
type item struct{ i, slot int }

// ReadMulti reads many keys.
func (t *sharedTier) ReadMulti(ctx context.Context, queries []shared.Query, each func(i int, f shared.Found, err error)) {
	answers := make([]answer, len(queries))
	t.byWire(ctx, len(queries), func(i int) string { return t.names.Entry(queries[i].Key) },
		func(i int, err error) { answers[i].err = err },
		func(w *wire.Wire, group []item) {
			for len(group) > 0 {
				n := min(len(group), wire.MaxBatch)
				t.readPart(ctx, w, queries, group[:n], answers)
				group = group[n:]
			}
		})
	for i, a := range answers {
		if command.IsRedirect(a.err) {
			a.found, a.err = t.Read(ctx, nil, queries[i])
		}
		each(i, a.found, a.err)
	}
}

// answer is what was found of one key of a batch.
type answer struct {
	found shared.Found
	err   error
}

// readPart reads keys of one wire, first the headers alone of those that there are copies of.
func (t *sharedTier) readPart(ctx context.Context, w *wire.Wire, queries []shared.Query, part []item, answers []answer) {
	readings, cmds := make([]reading, len(part)), make([]rueidis.Completed, len(part))
	leave, err := t.enterChecks(ctx, w, queries, part)
	if err != nil {
		for _, it := range part {
			answers[it.i].err = err
		}
		return
	}
	defer leave()
	for j, it := range part {
		q := queries[it.i]
		readings[j] = reading{t: t, w: w, name: t.names.Entry(q.Key), stamp: t.cluster.Stamp(w, it.slot)}
		cmds[j] = command.GetRange(readings[j].name, 0, pieceFor(q))
	}
	t.count.reads.Add(uint64(len(part)))
	for j, result := range w.DoMulti(ctx, cmds...) {
		i, q, r := part[j].i, queries[part[j].i], readings[j]
		b, err := t.answer(&result)
		f, unchanged := r.unchanged(nil, q, b)
		switch {
		case err != nil:
			f, err = r.missOr(nil, err)
		case unchanged:
		case q.Have != 0 && len(b) == entry.Len:
			f, err = t.readFrom(ctx, w, part[j].slot, nil, shared.Query{Key: q.Key})
		default:
			f, err = r.found(ctx, nil, b, pieceFor(q))
		}
		answers[i] = answer{f, err}
	}
}

// pieceFor is how many bytes of a batch's key are requested at first.
func pieceFor(q shared.Query) int {
	if q.Have != 0 {
		return entry.Len
	}
	return firstPieceMulti
}

// WriteMulti writes many entries.
func (t *sharedTier) WriteMulti(ctx context.Context, entries []shared.Entry, each func(i int, w shared.Written, err error)) {
	written, errs := make([]shared.Written, len(entries)), make([]error, len(entries))
	t.byWire(ctx, len(entries), func(i int) string { return t.names.Entry(entries[i].Key) },
		func(i int, err error) { errs[i] = err },
		func(w *wire.Wire, group []item) {
			for len(group) > 0 {
				n := partOf(entries, group)
				t.writePart(ctx, w, entries, group[:n], written, errs)
				group = group[n:]
			}
		})
	for i := range entries {
		if command.IsRedirect(errs[i]) {
			written[i], errs[i] = t.Write(ctx, entries[i], shared.Anything)
		}
		each(i, written[i], errs[i])
	}
}

// partOf is how many of the group's first entries are sent together.
func partOf(entries []shared.Entry, group []item) int {
	size := 0
	for n, it := range group {
		size += len(entries[it.i].Value)
		if n == wire.MaxBatch || n > 0 && size > batchBytes {
			return n
		}
	}
	return len(group)
}

// writePart writes entries of one wire. One that is long goes by itself, in its turn: a key may
// be there twice.
func (t *sharedTier) writePart(ctx context.Context, w *wire.Wire, entries []shared.Entry, part []item, written []shared.Written, errs []error) {
	var sent []int
	var cmds []rueidis.Completed
	flush := func() {
		for j, err := range t.outcomes(ctx, w, cmds) {
			errs[sent[j]] = err
		}
		sent, cmds = nil, nil
	}
	for _, it := range part {
		e := entries[it.i]
		s, err := t.seal(e)
		if err != nil || len(s.envelope) > nextPiece {
			flush()
			written[it.i], errs[it.i] = t.Write(ctx, e, shared.Anything)
			continue
		}
		written[it.i] = shared.Written{Version: s.version, Stamp: t.cluster.Stamp(w, it.slot)}
		t.count.writes.Add(1)
		t.count.bytesWritten.Add(uint64(len(s.envelope)))
		sent, cmds = append(sent, it.i), append(cmds, command.Set(t.names.Entry(e.Key), rueidis.BinaryString(s.envelope), s.px))
	}
	flush()
}

// RemoveMulti removes many entries.
func (t *sharedTier) RemoveMulti(ctx context.Context, keys [][]byte, each func(i int, err error)) {
	errs := make([]error, len(keys))
	t.byWire(ctx, len(keys), func(i int) string { return t.names.Entry(keys[i]) },
		func(i int, err error) { errs[i] = err },
		func(w *wire.Wire, group []item) {
			for len(group) > 0 {
				n := min(len(group), wire.MaxBatch)
				t.removePart(ctx, w, keys, group[:n], errs)
				group = group[n:]
			}
		})
	for i, err := range errs {
		if command.IsRedirect(err) || command.IsError(err, "OOM") {
			err = t.Remove(ctx, keys[i], shared.Anything)
		}
		each(i, err)
	}
}

func (t *sharedTier) removePart(ctx context.Context, w *wire.Wire, keys [][]byte, part []item, errs []error) {
	cmds := make([]rueidis.Completed, len(part))
	for j, it := range part {
		cmds[j] = t.removal(ctx, w, t.names.Entry(keys[it.i]))
	}
	t.count.writes.Add(uint64(len(part)))
	for j, err := range t.outcomes(ctx, w, cmds) {
		errs[part[j].i] = err
	}
}

// outcomes sends commands, and returns the error of each.
func (t *sharedTier) outcomes(ctx context.Context, w *wire.Wire, cmds []rueidis.Completed) []error {
	if len(cmds) == 0 {
		return nil
	}
	errs := make([]error, len(cmds))
	for i, result := range w.DoMulti(ctx, cmds...) {
		errs[i] = w.ServerError(result.Error())
	}
	return errs
}
