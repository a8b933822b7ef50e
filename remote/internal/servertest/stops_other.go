//go:build unix && !linux

package servertest

func awaitStopped(int) error { return nil }
