package command

import (
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"
)

// refresh is how often the bar is drawn.
const refresh = 100 * time.Millisecond

// ShowBar draws a bar on w, with the rate and the time left, until the function
// it returns is called. It draws nothing unless w is a terminal. state tells the
// requests (or bytes) done and the share of all that they are; it is called from another
// goroutine.
func ShowBar(w io.Writer, message string, state func() (requests int64, share float64)) (stop func()) {
	if file, ok := w.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	bar := progress.NewWriter()
	bar.SetOutputWriter(w)
	bar.SetUpdateFrequency(refresh)
	bar.SetTrackerLength(30)
	bar.SetStyle(progress.StyleBlocks)
	bar.Style().Visibility.ETA = true
	bar.Style().Visibility.Speed = true
	bar.Style().Options.PercentFormat = "%3.0f%%"
	bar.Style().Options.TimeInProgressPrecision = time.Second
	bar.SetTrackerPosition(progress.PositionRight)
	tracker := &progress.Tracker{Message: message, AutoStopDisabled: true, RemoveOnCompletion: true}
	bar.AppendTracker(tracker)

	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		go bar.Render()
		for tick := time.NewTicker(refresh); ; {
			select {
			case <-tick.C:
				requests, share := state()
				if share > 0 {
					tracker.UpdateTotal(max(int64(float64(requests)/share), requests, 1))
				}
				tracker.SetValue(requests)
			case <-quit:
				tick.Stop()
				tracker.MarkAsDone()
				for bar.Stop(); bar.IsRenderInProgress(); time.Sleep(refresh / 10) {
				}
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}
