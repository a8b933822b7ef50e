package samples

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is the JSON schema of the files that Save writes.
//
//go:embed schema.json
var Schema []byte

// Validate checks that body holds results as Schema wants them.
func Validate(body []byte) error {
	results, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	wanted, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	const name = "schema.json"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, wanted); err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	return s.Validate(results)
}
