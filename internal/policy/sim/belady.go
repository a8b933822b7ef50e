package sim

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
		h.push(use{key, next[i]})
	}
	return misses
}

// use is a key and the position of its next request.
type use struct{ key, at int32 }

// farthest is a binary heap of uses, the latest on top; entries that a later
// request overtook are skipped when they surface. (container/heap would allocate
// for each of millions of uses.)
type farthest []use

func (h *farthest) push(u use) {
	*h = append(*h, u)
	i := len(*h) - 1
	for ; i > 0 && (*h)[(i-1)/2].at < u.at; i = (i - 1) / 2 {
		(*h)[i] = (*h)[(i-1)/2]
	}
	(*h)[i] = u
}

func (h *farthest) pop() use {
	top, n := (*h)[0], len(*h)-1
	last := (*h)[n]
	*h = (*h)[:n]
	i := 0
	for {
		child := 2*i + 1
		if child+1 < n && (*h)[child+1].at > (*h)[child].at {
			child++
		}
		if child >= n || (*h)[child].at <= last.at {
			break
		}
		(*h)[i] = (*h)[child]
		i = child
	}
	if n > 0 {
		(*h)[i] = last
	}
	return top
}

func (h *farthest) victim(due []int32) int32 {
	for {
		if u := h.pop(); due[u.key] == u.at {
			return u.key
		}
	}
}
