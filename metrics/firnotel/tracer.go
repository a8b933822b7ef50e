package firnotel

import (
	"context"
	"errors"

	"github.com/firncache/firn"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// NewTracer makes the Tracer of a cache, for firn.Options:
//
//	firn.Options{Tracer: firnotel.NewTracer(otel.GetTracerProvider(), "sessions"), …}
//
// The span of a loader's call is "firn.load". It is a child of the span of the caller who
// began it, or, of a load in the background, the first of a trace of its own, with a link to
// that span. Its attributes are cache, firn.keys, how many it loads, firn.background, and
// firn.found, which is false after ErrNotFound. A wait for reads of the disk is
// "firn.ssd.read", a child of the caller's span, with cache and firn.records. Errors are
// recorded.
func NewTracer(provider trace.TracerProvider, cache string) firn.Tracer {
	return &tracer{provider.Tracer(Scope), attribute.String("cache", cache)}
}

type tracer struct {
	tracer trace.Tracer
	cache  attribute.KeyValue
}

func (t *tracer) StartLoad(ctx context.Context, keys int, background bool) (context.Context, func(error)) {
	options := []trace.SpanStartOption{
		trace.WithAttributes(t.cache, attribute.Int("firn.keys", keys), attribute.Bool("firn.background", background)),
	}
	if background {
		options = append(options, trace.WithNewRoot(), trace.WithLinks(trace.LinkFromContext(ctx)))
	}
	ctx, span := t.tracer.Start(ctx, "firn.load", options...)
	return ctx, func(err error) {
		found := !errors.Is(err, firn.ErrNotFound)
		span.SetAttributes(attribute.Bool("firn.found", found && err == nil))
		if found {
			record(span, err)
		}
		span.End()
	}
}

func (t *tracer) StartSSDRead(ctx context.Context, records int) func(error) {
	_, span := t.tracer.Start(ctx, "firn.ssd.read", trace.WithAttributes(t.cache, attribute.Int("firn.records", records)))
	return func(err error) {
		record(span, err)
		span.End()
	}
}

// record makes a span one that failed, if there is an error.
func record(span trace.Span, err error) {
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
}
