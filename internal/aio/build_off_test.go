//go:build !race && !bufpoolcheck

package aio

const allocatingBuild = false
