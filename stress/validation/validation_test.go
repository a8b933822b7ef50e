package validation

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The stress test of the root package notices when readers do not validate what they copied: it is
// built once more without the validation, and must fail.
func TestStressNoticesMissingValidation(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command at hand")
	}
	cmd := exec.Command(goTool, "test", "-tags=firn_skip_validation", "-count=1", "-timeout=4m", "-run=^TestStress$", "github.com/firncache/firn")
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
