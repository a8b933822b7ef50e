package samples

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes the computer that a suite ran on.
type Machine struct {
	OS        string  `json:"os"`
	Arch      string  `json:"arch"`
	Kernel    string  `json:"kernel"`
	CPU       string  `json:"cpu"`
	Procs     int     `json:"gomaxprocs"`
	MemoryGiB float64 `json:"memory_gib"`
	HugePages string  `json:"transparent_hugepages"` // as the kernel prints it, the setting in brackets
	Go        string  `json:"go"`
}

// ThisMachine describes the computer that this program runs on. What the
// operating system does not tell stays empty.
func ThisMachine() Machine {
	return Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Procs: runtime.GOMAXPROCS(0), Go: runtime.Version(),
		Kernel:    firstLine("/proc/sys/kernel/osrelease"),
		CPU:       field("/proc/cpuinfo", "model name"),
		MemoryGiB: float64(kilobytes("/proc/meminfo", "MemTotal")) / (1 << 20),
		HugePages: firstLine("/sys/kernel/mm/transparent_hugepage/enabled"),
	}
}

// FreeMemory returns the bytes that programs can still take, and 0 where the
// operating system does not tell.
func FreeMemory() int64 { return kilobytes("/proc/meminfo", "MemAvailable") << 10 }

// RSS returns the resident memory of this process in bytes, and 0 where the
// operating system does not tell.
func RSS() int64 { return kilobytes("/proc/self/status", "VmRSS") << 10 }

func firstLine(file string) string {
	body, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(body), "\n")
	return line
}

// field returns the text after the first "name:" in the file.
func field(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, text, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// kilobytes returns the number before "kB" in the named field.
func kilobytes(file, name string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(field(file, name), " kB"), 10, 64)
	return n
}
