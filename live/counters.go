package live

import "encoding/json"

// above is what counts above a cache: see Named.Counters.
type above func(yield func(name, help string, value uint64))

// counter is one of them in a frame.
type counter struct {
	Name  string `json:"name"`
	Help  string `json:"help"`
	Value uint64 `json:"value"`
}

// json is a list of the counters, nil without.
func (a above) json() json.RawMessage {
	var list []counter
	if a != nil {
		a(func(name, help string, value uint64) { list = append(list, counter{name, help, value}) })
	}
	if list == nil {
		return nil
	}
	b, _ := json.Marshal(list) // strings and numbers
	return b
}
