//go:build !amd64 || race || firn_skip_validation

package ram

// getFast leaves every key to Tier.get.
func getFast(*Tier, []byte, string) (n int, deadline int64) { return unusual, 0 }
