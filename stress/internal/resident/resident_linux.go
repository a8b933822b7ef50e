package resident

import (
	"fmt"
	"os"
	"strings"
)

// Measured says that this system is measured.
const Measured = true

// Read measures.
func Read() (m Memory, err error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return m, err
	}
	fields := map[string]*int64{"VmRSS": &m.Now, "VmHWM": &m.Peak, "VmSize": &m.Address}
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(line, ":")
		field := fields[name]
		if field == nil {
			continue
		}
		if _, err := fmt.Sscanf(rest, "%d kB", field); err != nil {
			return m, fmt.Errorf("%s: %w", line, err)
		}
		*field <<= 10
		delete(fields, name)
	}
	if len(fields) > 0 {
		return m, fmt.Errorf("/proc/self/status lacks %d fields", len(fields))
	}
	return m, nil
}
