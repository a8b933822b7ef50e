// Package command is the common part of the programs that replay workloads:
// their flags, progress line, JSON and exit statuses. cmd/firn replays through
// firn; the bench module replays through its rivals.
package command
