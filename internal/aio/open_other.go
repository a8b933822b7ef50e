//go:build !linux

package aio

import "errors"

func openRing(*Reader) (engine, error) {
	return nil, errors.New("this system has no io_uring")
}
