package stats

import "fmt"

// ReadEngine is how the SSD tier reads.
type ReadEngine uint8

// The engines.
const (
	NoReadEngine ReadEngine = iota // there is no SSD tier
	ReadPread                      // pread, each read under way in a thread
	ReadLibaio                     // Linux's older interface for asynchronous reads, as libaio has it
	ReadIOUring
)

var readEngines = [...]string{NoReadEngine: "none", ReadPread: "pread", ReadLibaio: "libaio", ReadIOUring: "io_uring"}

// String is the engine's name: none, pread, libaio or io_uring.
func (e ReadEngine) String() string {
	if int(e) < len(readEngines) {
		return readEngines[e]
	}
	return fmt.Sprintf("ReadEngine(%d)", uint8(e))
}

// MarshalText is the engine's name.
func (e ReadEngine) MarshalText() ([]byte, error) { return []byte(e.String()), nil }
