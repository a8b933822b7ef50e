package firn_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/invariants"
)

// The stress test notices when readers do not validate what they copied: it is
// built once more without the validation, and must fail.
func TestStressNoticesMissingValidation(t *testing.T) {
	if invariants.SkipValidation {
		return // this is that build
	}
	if invariants.Race {
		t.Log("not run under the race detector: the mapped build shows it")
		return
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Log("not run: no go command at hand")
		return
	}
	cmd := exec.Command(goTool, "test", "-tags=firn_skip_validation", "-count=1", "-timeout=4m", "-run=^TestStress$", ".")
	cmd.Env = append(os.Environ(), "FIRN_STRESS=5000")
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
