package main

import (
	"go/token"
	"regexp"
	"strings"

	"github.com/golangci/misspell"
	"github.com/golangci/unconvert"
	"github.com/gordonklaus/ineffassign/pkg/ineffassign"
	"github.com/kisielk/errcheck/errcheck"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/asmdecl"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/atomicalign"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/cgocall"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/deepequalerrors"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/findcall"
	"golang.org/x/tools/go/analysis/passes/framepointer"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/httpmux"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/inline"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/reflectvaluecompare"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/sortslice"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stdversion"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/analysis/passes/unusedwrite"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/unused"
)

// linters are the analyzers of each linter. All that they find is heeded.
func linters() map[string][]*analysis.Analyzer {
	return map[string][]*analysis.Analyzer{
		"errcheck":    {{Name: "errcheck", Doc: "errors that nothing looks at", Run: runErrcheck}},
		"govet":       vet,
		"ineffassign": {ineffassign.Analyzer},
		"misspell":    {{Name: "misspell", Doc: "words that are often misspelled", Run: runMisspell}},
		// Faults and simplifications, not taste: neither stylecheck nor quickfix.
		"staticcheck": append(plain(staticcheck.Analyzers), plain(simple.Analyzers)...),
		"unconvert":   {{Name: "unconvert", Doc: "conversions to the type that a value has", Run: runUnconvert}},
		"unused":      {{Name: "unused", Doc: unused.Analyzer.Analyzer.Doc, Requires: []*analysis.Analyzer{unused.Analyzer.Analyzer}, Run: runUnused}},
	}
}

// vet are the analyzers of go vet, and those of the same place that it leaves out,
// except fieldalignment, since fields stand in the order in which they are read,
// and shadow.
var vet = []*analysis.Analyzer{
	appends.Analyzer, asmdecl.Analyzer, assign.Analyzer, atomic.Analyzer, atomicalign.Analyzer,
	bools.Analyzer, buildtag.Analyzer, cgocall.Analyzer, composite.Analyzer, copylock.Analyzer,
	deepequalerrors.Analyzer, defers.Analyzer, directive.Analyzer, errorsas.Analyzer,
	findcall.Analyzer, framepointer.Analyzer, hostport.Analyzer, httpmux.Analyzer,
	httpresponse.Analyzer, ifaceassert.Analyzer, inline.Analyzer, lostcancel.Analyzer,
	nilfunc.Analyzer, nilness.Analyzer, printf.Analyzer, reflectvaluecompare.Analyzer,
	shift.Analyzer, sigchanyzer.Analyzer, slog.Analyzer, sortslice.Analyzer, stdmethods.Analyzer,
	stdversion.Analyzer, stringintconv.Analyzer, structtag.Analyzer, testinggoroutine.Analyzer,
	tests.Analyzer, timeformat.Analyzer, unmarshal.Analyzer, unreachable.Analyzer,
	unsafeptr.Analyzer, unusedresult.Analyzer, unusedwrite.Analyzer, waitgroup.Analyzer,
}

func plain(of []*lint.Analyzer) (all []*analysis.Analyzer) {
	for _, a := range of {
		all = append(all, a.Analyzer)
	}
	return all
}

// unheard are the functions that may fail without anybody looking.
var unheard = regexp.MustCompile(`(?i)^((os\.)?std(out|err)\..*|.*Close|.*Flush|os\.Remove(All)?|.*print(f|ln)?|os\.(Un)?Setenv)$`)

// runErrcheck leaves out tests.
func runErrcheck(pass *analysis.Pass) (any, error) {
	checker := errcheck.Checker{Exclusions: errcheck.Exclusions{
		BlankAssignments:       true,
		TypeAssertions:         true,
		SymbolRegexpsByPackage: map[string]*regexp.Regexp{},
		Symbols:                errcheck.DefaultExcludedSymbols,
	}}
	found := checker.CheckPackage(&packages.Package{Fset: pass.Fset, Syntax: pass.Files, Types: pass.Pkg, TypesInfo: pass.TypesInfo})
	for _, e := range found.Unique().UncheckedErrors {
		name := e.SelectorName
		if name == "" {
			name = e.FuncName
		}
		if !unheard.MatchString(name) && !strings.HasSuffix(e.Pos.Filename, "_test.go") {
			report(pass, e.Pos, "nothing looks at the error of "+name)
		}
	}
	return nil, nil
}

var misspelled = misspell.New()

func runMisspell(pass *analysis.Pass) (any, error) {
	for _, file := range pass.Files {
		f := pass.Fset.File(file.Pos())
		content, err := pass.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
		_, diffs := misspelled.Replace(string(content))
		for _, d := range diffs {
			pass.Reportf(f.LineStart(d.Line)+token.Pos(d.Column), "%q is a misspelling of %q", d.Original, d.Corrected)
		}
	}
	return nil, nil
}

func runUnconvert(pass *analysis.Pass) (any, error) {
	for _, at := range unconvert.Run(pass) {
		report(pass, at, "a conversion to the type that the value has")
	}
	return nil, nil
}

// runUnused takes what is exported for used.
func runUnused(pass *analysis.Pass) (any, error) {
	for _, object := range pass.ResultOf[unused.Analyzer.Analyzer].(unused.Result).Unused {
		if object.Kind != "type param" {
			report(pass, object.Position, object.Kind+" "+object.Name+" is unused")
		}
	}
	return nil, nil
}

// report reports what a linter found that knows only its line and column.
func report(pass *analysis.Pass, at token.Position, message string) {
	for _, file := range pass.Files {
		if f := pass.Fset.File(file.Pos()); f.Name() == at.Filename {
			pass.Reportf(f.LineStart(at.Line)+token.Pos(at.Column-1), "%s", message)
			return
		}
	}
	pass.Reportf(pass.Files[0].Pos(), "%s: %s", at, message)
}
