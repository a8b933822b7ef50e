//go:build !firn_skip_validation

package invariants

// SkipValidation says that lock-free readers do not look whether what they
// copied was overwritten meanwhile. It is true in builds with the tag
// firn_skip_validation, with which a test shows that the torn-read stress test
// notices.
const SkipValidation = false
