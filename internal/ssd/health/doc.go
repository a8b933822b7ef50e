// Package health counts the faults of the SSD tier's disk, says what they mean in plain words,
// and has a disk that failed tried again.
//
// The files:
//
//	bad_reads.go  records that the disk failed to read
//	incidents.go  what happened, for the live page
//	health.go     faults, and whether the tier is offline
//	retry.go      tries to come back
package health
