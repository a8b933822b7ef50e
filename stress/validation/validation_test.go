package validation

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The stress test of a cache notices when readers do not validate what
// they copied: it is built once more without the validation, and must fail. Where
// Go runs one goroutine at a time, a copy is hardly ever interrupted.
func TestStressNoticesMissingValidation(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command at hand")
	}
	cmd := exec.Command(goTool, "test", "-tags=firn_skip_validation", "-count=1", "-timeout=30m", "-run=^TestStress$", "github.com/firncache/firn/internal/tests/bytes")
	cmd.Env = append(os.Environ(), "FIRN_STRESS=5000", "GOMAXPROCS=4")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the stress test passes without validation:\n%s", out)
	}
	if !strings.Contains(string(out), "torn value") && !strings.Contains(string(out), "stale value") &&
		!strings.Contains(string(out), "another key's value") {
		t.Fatalf("the stress test fails for another reason: %v\n%s", err, out)
	}
}
