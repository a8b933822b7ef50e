// Package command is what the programs that replay workloads have in common:
// their flags, progress line, JSON and exit statuses. cmd/firn replays through
// firn; the bench module replays through its rivals.
package command
