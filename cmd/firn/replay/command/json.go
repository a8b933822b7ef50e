package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// OpenJSON returns the encoder of the flag -json: one to the file at path, to
// stdout if that is "-", or to nowhere if it is empty. closeFile comes last. A file that
// holds something other than JSON, a trace perhaps that was meant as an argument, is left alone.
func OpenJSON(path string, stdout io.Writer) (out *json.Encoder, closeFile func() error, err error) {
	closeFile = func() error { return nil }
	switch path {
	case "":
		return json.NewEncoder(io.Discard), closeFile, nil
	case "-":
		return json.NewEncoder(stdout), closeFile, nil
	}
	if strings.HasPrefix(path, "-") { // a flag where the file is missing
		return nil, nil, usage("-json %q: expected a file, or - for stdout; ./%s is the file of this name", path, path)
	}
	if err := replaceable(path); err != nil {
		return nil, nil, err
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	return json.NewEncoder(file), file.Close, nil
}

// replaceable is an error if a file has something that is not ours to replace.
func replaceable(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil // Create says what is wrong with it
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	first := make([]byte, 1)
	if _, err := file.Read(first); err != nil {
		return err
	}
	if first[0] != '{' {
		return Usage(fmt.Errorf("-json %q: the file exists and holds no JSON: want a new file, or one of results", path))
	}
	return nil
}
