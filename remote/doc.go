// Package remote is a tier on a Redis or Valkey server, or a cluster of them, that the
// caches of several processes share.
package remote
