// Package vfs is the way to the disk: the few operations that the SSD tier
// needs, so that tests can stand in it with faults, crashes and slowness.
package vfs
