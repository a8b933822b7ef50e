//go:build !bufpoolcheck

package bufpool

// checkedBuild makes every pool a checked one.
const checkedBuild = false
