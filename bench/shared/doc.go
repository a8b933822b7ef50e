// Package shared measures caches whose values lie on a Redis or Valkey server: firn's shared
// tier, and the clients that Go programs use for that today. They take turns beside one
// server, on this machine.
package shared
