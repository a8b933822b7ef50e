package ram

import "github.com/firncache/firn/internal/watch"

// The calls of a Tier with the hash of the key in hand.

func (t *Tier) setKey(key, value []byte, deadline int64) error {
	return t.Set(t.Hash(key), key, value, deadline)
}

func (t *Tier) deleteKey(key []byte) bool { return t.Delete(t.Hash(key), key) }

func (t *Tier) deadlineOf(key []byte) (deadline int64, ok bool) {
	return t.Deadline(t.Hash(key), key)
}

func (t *Tier) watchKey(w *watch.Watch, key []byte) { t.Watch(w, t.Hash(key), key) }

func (t *Tier) peekKey(dst, key []byte) ([]byte, bool) {
	v, _, ok := t.Peek(t.Hash(key), dst, key)
	return v, ok
}

func (t *Tier) peekStaleKey(dst, key []byte) (value []byte, deadline int64, ok bool) {
	return t.PeekStale(t.Hash(key), dst, key)
}
