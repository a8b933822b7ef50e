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

// The values of TestTagsSurviveKill, and their tags.
const killedValues, killedTags = 8000, 50

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
	if os.Getenv(child) == "" {
		tagsAfterKill(t, c, pages)
		return
	}
	tag := func(i int) string { return fmt.Sprint("tag ", i%killedTags) }
	for i := range killedValues {
		if err := pages.SetWith(t.Context(), i, make([]byte, 2000), firn.SetOptions{Tags: []string{"any", tag(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < killedTags; i += 2 {
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

// tagsAfterKill looks for the values that the killed process had.
func tagsAfterKill(t *testing.T, c *firn.Cache, pages *firn.Typed[int, []byte]) {
	found, stale := 0, 0
	down := errors.New("the source is down")
	for i := range killedValues {
		_, ok := pages.Get(i)
		if ok && i%killedTags%2 == 0 {
			t.Fatalf("value %d is found, of which the tag was invalidated, or has expired", i)
		}
		if ok {
			found++
		}
		if i%killedTags%2 == 0 {
			_, err := pages.GetOrLoad(t.Context(), i, func(context.Context, int) ([]byte, error) { return nil, down })
			switch {
			case err == nil && i%killedTags%4 == 0:
				t.Fatalf("value %d is an answer, of which the tag was invalidated", i)
			case err == nil:
				stale++
			case !errors.Is(err, down):
				t.Fatal(err)
			}
		}
	}
	if c.Stats().SSD.Kept && stale < killedValues/40 {
		t.Errorf("%d of %d values are an answer whose tags have expired, want those on the SSD", stale, killedValues/4)
	}
	if c.Stats().SSD.Kept && found < killedValues/10 {
		t.Errorf("%d of %d values are found whose tags hold, want those on the SSD: %+v", found, killedValues/2, c.Stats())
	}
}
