package sim

import "container/heap"

// Belady counts the misses of the optimal policy, which evicts the key whose
// next use is farthest away (Belady, 1966).
func Belady(requests []int32, keys, capacity int) int {
	const never = 1 << 30
	next, last := make([]int32, len(requests)), make([]int32, keys)
	for i := range last {
		last[i] = never
	}
	for i := len(requests) - 1; i >= 0; i-- {
		next[i], last[requests[i]] = last[requests[i]], int32(i)
	}
	due := make([]int32, keys) // of a resident key, its next use; else -1
	for i := range due {
		due[i] = -1
	}
	var h farthest
	resident, misses := 0, 0
	for i, key := range requests {
		if due[key] < 0 {
			misses++
			if resident == capacity {
				due[h.victim(due)] = -1
				resident--
			}
			resident++
		}
		due[key] = next[i]
		heap.Push(&h, use{key, next[i]})
	}
	return misses
}

// use is a key and the position of its next request.
type use struct{ key, at int32 }

// farthest is a heap of uses, the latest on top; entries that a later request
// overtook are skipped when they surface.
type farthest []use

func (h farthest) Len() int           { return len(h) }
func (h farthest) Less(i, j int) bool { return h[i].at > h[j].at }
func (h farthest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *farthest) Push(x any)        { *h = append(*h, x.(use)) }
func (h *farthest) Pop() any {
	n := len(*h) - 1
	u := (*h)[n]
	*h = (*h)[:n]
	return u
}

func (h *farthest) victim(due []int32) int32 {
	for {
		if u := heap.Pop(h).(use); due[u.key] == u.at {
			return u.key
		}
	}
}
