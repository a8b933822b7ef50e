package sim

// lists is a set of doubly linked lists over the keys 0..n-1. A key is in at
// most one list; list 0 means "in none".
type lists struct {
	prev, next []int32
	where      []uint8
	len        []int   // sum of the sizes of a list's keys
	sizes      []int32 // by key; nil: all are 1
	n          int32
}

// newLists makes k empty lists, numbered 1..k, over n keys.
func newLists(n, k int) *lists {
	l := &lists{
		prev: make([]int32, n+k+1), next: make([]int32, n+k+1),
		where: make([]uint8, n), len: make([]int, k+1), n: int32(n),
	}
	for i := range k + 1 {
		h := l.head(uint8(i))
		l.prev[h], l.next[h] = h, h
	}
	return l
}

// head is the sentinel of a list: next is its newest key, prev its oldest.
func (l *lists) head(list uint8) int32 { return l.n + int32(list) }

func (l *lists) size(key int32) int {
	if l.sizes == nil {
		return 1
	}
	return int(l.sizes[key])
}

// remove takes key out of the list it is in.
func (l *lists) remove(key int32) {
	w := l.where[key]
	if w == 0 {
		return
	}
	l.next[l.prev[key]], l.prev[l.next[key]] = l.next[key], l.prev[key]
	l.where[key] = 0
	l.len[w] -= l.size(key)
}

// push moves key to the newest end of a list, from wherever it is.
func (l *lists) push(list uint8, key int32) {
	l.remove(key)
	h := l.head(list)
	l.next[key], l.prev[key] = l.next[h], h
	l.prev[l.next[h]], l.next[h] = key, key
	l.where[key] = list
	l.len[list] += l.size(key)
}

// pop removes and returns the oldest key of a list that is not empty.
func (l *lists) pop(list uint8) int32 {
	key := l.oldest(list)
	l.remove(key)
	return key
}

// oldest is the oldest key of a list that is not empty.
func (l *lists) oldest(list uint8) int32 { return l.prev[l.head(list)] }
