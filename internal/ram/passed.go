package ram

// Passed reports whether a moment in milliseconds has come.
func (t *Tier) Passed(moment int64) bool { return t.clock.expired(moment) }
