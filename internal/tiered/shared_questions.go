package tiered

import (
	"context"
	"sync"

	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/shared"
)

// questions are those for numbers that several callers wait for. They go on when nobody waits
// any more. For each id one is sent at a time, and one more may wait until that is answered.
type questions struct {
	mu            sync.Mutex // a leaf
	sent, waiting map[registry.ID]*question
}

// question is asked by a goroutine of its own.
type question struct {
	answered chan struct{} // closed when the others are set
	number   *shared.Number
	err      error
}

// question is one for an id, that may have been sent already.
func (n *Numbers) question(ctx context.Context, id registry.ID) *question {
	q := &n.questions
	q.mu.Lock()
	defer q.mu.Unlock()
	if sent := q.sent[id]; sent != nil {
		return sent
	}
	return n.questionToSend(ctx, id)
}

// askAfter is Ask with the answer to a question that was sent after the call of askAfter began,
// and that others may have asked.
func (n *Numbers) askAfter(ctx context.Context, id registry.ID) (*shared.Number, error) {
	n.questions.mu.Lock()
	q := n.questionToSend(ctx, id)
	n.questions.mu.Unlock()
	select {
	case <-q.answered:
		return q.number, q.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// questionToSend is a question that has not been sent. The caller holds mu.
func (n *Numbers) questionToSend(ctx context.Context, id registry.ID) *question {
	q := &n.questions
	if waiting := q.waiting[id]; waiting != nil {
		return waiting
	}
	if q.sent == nil {
		q.sent, q.waiting = map[registry.ID]*question{}, map[registry.ID]*question{}
	}
	next, before := &question{answered: make(chan struct{})}, q.sent[id]
	if before == nil {
		q.sent[id] = next
	} else {
		q.waiting[id] = next
	}
	go n.send(context.WithoutCancel(ctx), id, before, next)
	return next
}

// send asks a question, when the one from before was answered.
func (n *Numbers) send(ctx context.Context, id registry.ID, before, next *question) {
	q := &n.questions
	if before != nil {
		<-before.answered
		q.mu.Lock()
		delete(q.waiting, id)
		q.sent[id] = next
		q.mu.Unlock()
	}
	next.number, next.err = n.Ask(ctx, id)
	q.mu.Lock()
	if q.sent[id] == next {
		delete(q.sent, id)
	}
	q.mu.Unlock()
	close(next.answered)
}
