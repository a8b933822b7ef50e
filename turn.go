package firn

// turn is a call's place among those that LoadingOptions.MaxLoads lets run.
type turn struct {
	free    bool // it needs no slot: the loader that waits for it has one
	held    bool // it has a slot
	hurried bool // a loader began to wait for it; guarded by loads.mu
	urgent  chan struct{}
}

// limit makes room for n calls at a time; 0 is no limit.
func (l *loads) limit(n int) {
	if n > 0 {
		l.slots = make(chan struct{}, n)
	}
}

// newTurn makes the turn of a call. One that is asked for by a loader is free,
// so that no loader waits for its own slot.
func newTurn(free bool) turn { return turn{free: free, urgent: make(chan struct{})} }

// hurry frees a call that waits for its turn: a loader waits for it. The caller
// holds loads.mu.
func (t *turn) hurry() {
	if !t.hurried {
		t.hurried = true
		close(t.urgent)
	}
}

// enter waits for the turn of a call, or for its end.
func (l *loads) enter(call *loadCall) {
	t := &call.turn
	if t.free || t.held {
		return
	}
	if l.slots == nil {
		t.held = true
		return
	}
	select {
	case l.slots <- struct{}{}:
		t.held = true
	case <-t.urgent:
	case <-call.ctx.Done():
	}
}

// tryEnter takes a slot if one is free.
func (l *loads) tryEnter() bool {
	if l.slots == nil {
		return true
	}
	select {
	case l.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// leaveTurn gives a call's slot back.
func (l *loads) leaveTurn(call *loadCall) {
	if call.turn.held {
		l.exit()
	}
}

// exit gives a slot back.
func (l *loads) exit() {
	if l.slots != nil {
		<-l.slots
	}
}
