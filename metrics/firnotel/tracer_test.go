package firnotel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/metrics/firnotel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// traced is a provider and what it records.
func traced() (*sdktrace.TracerProvider, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)), recorder
}

// named is the only recorded span of a name.
func named(t *testing.T, recorder *tracetest.SpanRecorder, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	var found sdktrace.ReadOnlySpan
	for _, span := range recorder.Ended() {
		if span.Name() == name {
			if found != nil {
				t.Fatalf("two spans %s", name)
			}
			found = span
		}
	}
	if found == nil {
		t.Fatalf("no span %s", name)
	}
	return found
}

func wantAttributes(t *testing.T, span sdktrace.ReadOnlySpan, want ...attribute.KeyValue) {
	t.Helper()
	got := attribute.NewSet(span.Attributes()...)
	if set := attribute.NewSet(want...); !got.Equals(&set) {
		t.Errorf("%s has %v, want %v", span.Name(), span.Attributes(), want)
	}
}

// The span of a load is a child of the caller's, and the loader's own are children of it.
func TestLoadSpan(t *testing.T) {
	errDown := errors.New("down")
	for _, x := range []struct {
		err   error
		found bool
		code  codes.Code
	}{{nil, true, codes.Unset}, {firn.ErrNotFound, false, codes.Unset}, {errDown, false, codes.Error}} {
		t.Run(fmt.Sprint(x.err), func(t *testing.T) {
			provider, recorder := traced()
			c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Tracer: firnotel.NewTracer(provider, "c")})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ctx, caller := provider.Tracer("test").Start(context.Background(), "caller")
			_, err = c.GetOrLoad(ctx, nil, []byte("k"), func(ctx context.Context, _ []byte) ([]byte, error) {
				_, inner := provider.Tracer("test").Start(ctx, "loader")
				inner.End()
				return []byte("v"), x.err
			})
			if !errors.Is(err, x.err) {
				t.Errorf("%v, want %v", err, x.err)
			}
			load, loader := named(t, recorder, "firn.load"), named(t, recorder, "loader")
			if load.Parent().SpanID() != caller.SpanContext().SpanID() || loader.Parent().SpanID() != load.SpanContext().SpanID() || load.Status().Code != x.code {
				t.Errorf("the parents are %v and %v, the status %v", load.Parent(), loader.Parent(), load.Status())
			}
			wantAttributes(t, load, attribute.String("cache", "c"), attribute.Int("firn.keys", 1), attribute.Bool("firn.background", false), attribute.Bool("firn.found", x.found))
		})
	}
}

// A load that nobody waits for begins a trace, and is linked with the caller's span.
func TestSpanOfBackground(t *testing.T) {
	provider, recorder := traced()
	ctx, caller := provider.Tracer("test").Start(context.Background(), "caller")
	ctx, end := firnotel.NewTracer(provider, "c").StartLoad(ctx, 3, true)
	end(nil)
	load := named(t, recorder, "firn.load")
	links := load.Links()
	if load.Parent().IsValid() || len(links) != 1 || links[0].SpanContext.SpanID() != caller.SpanContext().SpanID() || trace.SpanContextFromContext(ctx).SpanID() != load.SpanContext().SpanID() {
		t.Errorf("parent %v, links %v", load.Parent(), links)
	}
	wantAttributes(t, load, attribute.String("cache", "c"), attribute.Int("firn.keys", 3), attribute.Bool("firn.background", true), attribute.Bool("firn.found", true))
}

// A read of the disk is a child of its caller's span; one without a context has none.
func TestReadSpan(t *testing.T) {
	provider, recorder := traced()
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Tracer: firnotel.NewTracer(provider, "c"), SSD: firn.SSDOptions{Dir: t.TempDir(), Bytes: 16 << 20, Admission: firn.AdmitAll}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 10_000 {
		if err := c.Set(fmt.Append(nil, i), make([]byte, 500)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, caller := provider.Tracer("test").Start(context.Background(), "caller")
	reads := 0
	for i := 0; i < 10_000; i++ {
		key := fmt.Append(nil, i)
		if i%2 == 0 {
			c.Get(nil, key)
			continue
		}
		before := len(recorder.Ended())
		_, _ = c.Lookup(ctx, nil, key)
		for _, span := range recorder.Ended()[before:] {
			reads++
			if span.Name() != "firn.ssd.read" || span.Parent().SpanID() != caller.SpanContext().SpanID() || span.Status().Code != codes.Unset {
				t.Fatalf("%s, parent %v, status %v", span.Name(), span.Parent(), span.Status())
			}
			wantAttributes(t, span, attribute.String("cache", "c"), attribute.Int("firn.records", 1))
		}
		if reads == 10 {
			break
		}
	}
	if n := len(recorder.Ended()); n != reads || reads == 0 || c.Stats().SSD.Reads < uint64(reads) {
		t.Errorf("%d spans, %d of them of Lookup, %d reads", n, reads, c.Stats().SSD.Reads)
	}
}
