//go:build !linux

package aio

import "errors"

func openRing(*Reader) (engine, error) {
	return nil, errors.New("this system has no io_uring")
}

func openLibAIO(*Reader) (engine, error) {
	return nil, errors.New("this system has no io_submit")
}

func openPollable(r *Reader) (engine, error) { return openLibAIO(r) }

func (r *Reader) direct() bool { return false }
