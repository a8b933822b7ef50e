//go:build !linux

package offheap

import "errors"

// Own fails: no memory that outlives a process is given here.
func (r *Region) Own() error { return errors.New("offheap: no shared memory here") }
