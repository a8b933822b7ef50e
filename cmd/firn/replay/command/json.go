package command

import (
	"encoding/json"
	"io"
	"os"
)

// OpenJSON returns what the flag -json asks for: an encoder to the file at path, to
// stdout if that is "-", or to nowhere if it is empty. closeFile comes last.
func OpenJSON(path string, stdout io.Writer) (out *json.Encoder, closeFile func() error, err error) {
	closeFile = func() error { return nil }
	switch path {
	case "":
		return json.NewEncoder(io.Discard), closeFile, nil
	case "-":
		return json.NewEncoder(stdout), closeFile, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	return json.NewEncoder(file), file.Close, nil
}
