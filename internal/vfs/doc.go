// Package vfs is the door to the disk: the few operations that the SSD tier
// needs, so that tests can stand in it with faults, crashes and slowness.
package vfs
