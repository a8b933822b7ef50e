package kill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/firncache/firn"
)

// What a killed process had invalidated or expired stays so: of its values none is found, and of
// the others those that had been written to the SSD. Expired ones are an answer while the source
// is down, invalidated ones are not.
func TestTagsSurviveKill(t *testing.T) {
	const child = "FIRN_TAGS_CHILD"
	dir := os.Getenv(child)
	if dir == "" {
		dir = t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestTagsSurviveKill$")
		cmd.Env = append(os.Environ(), child+"="+dir)
		out, err := cmd.CombinedOutput()
		children.add(cmd.Process.Pid)
		if err == nil || cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("the child was not killed: %v\n%s", err, out)
		}
	}
	c, err := firn.Open(firn.Options{RAMBytes: 4 << 20, SSD: firn.SSDOptions{Dir: dir, Bytes: 64 << 20, Admission: firn.AdmitAll}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // before the directory goes
	pages, err := firn.NewTyped(c, "pages", firn.TypedOptions[int, []byte]{Loading: firn.LoadingOptions{StaleIfError: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	const n, tags = 8000, 50
	tag := func(i int) string { return fmt.Sprint("tag ", i%tags) }
	if os.Getenv(child) == "" {
		found, stale := 0, 0
		down := errors.New("the source is down")
		for i := range n {
			_, ok := pages.Get(i)
			if ok && i%tags%2 == 0 {
				t.Fatalf("value %d is found, of which the tag was invalidated, or has expired", i)
			}
			if ok {
				found++
			}
			if i%tags%2 == 0 {
				_, err := pages.GetOrLoad(t.Context(), i, func(context.Context, int) ([]byte, error) { return nil, down })
				switch {
				case err == nil && i%tags%4 == 0:
					t.Fatalf("value %d is an answer, of which the tag was invalidated", i)
				case err == nil:
					stale++
				case !errors.Is(err, down):
					t.Fatal(err)
				}
			}
		}
		if c.Stats().SSD.Kept && stale < n/40 {
			t.Errorf("%d of %d values are an answer whose tags have expired, want those on the SSD", stale, n/4)
		}
		if c.Stats().SSD.Kept && found < n/10 {
			t.Errorf("%d of %d values are found whose tags hold, want those on the SSD: %+v", found, n/2, c.Stats())
		}
		return
	}
	for i := range n {
		if err := pages.SetWith(t.Context(), i, make([]byte, 2000), firn.SetOptions{Tags: []string{"any", tag(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < tags; i += 2 {
		end := pages.InvalidateTag
		if i%4 == 2 {
			end = pages.ExpireTag
		}
		if err := end(t.Context(), tag(i)); err != nil {
			t.Fatal(err)
		}
	}
	killSelf()
}
