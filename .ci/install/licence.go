package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// licences is the list of other people's modules in what users build, each with its
// licences, below the root of the source.
const licences = ".ci/licences.txt"

// allowed are words of the licences that ask a user of firn for nothing but to keep the
// notice, and their names.
var allowed = map[string]string{
	"Apache License Version 2.0":                         "Apache-2.0",
	"Redistribution and use in source and binary forms":  "BSD",
	"Permission to use, copy, modify, and/or distribute": "ISC",
	"Permission is hereby granted, free of charge":       "MIT",
}

// checkLicences is an error unless the list has exactly the modules that programs in
// directories are made of, and all licences are allowed.
func (p *proxy) checkLicences(dirs []string, list string) error {
	found := map[string]bool{}
	for _, dir := range dirs {
		modules, err := p.run(dir, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Dir}}{{end}}", "./...")
		if err != nil {
			return err
		}
		for line := range strings.Lines(modules) {
			path, at, _ := strings.Cut(strings.TrimSpace(line), " ")
			if path == "" || path == "user" || ours(path) {
				continue
			}
			licence, err := licenceOf(at)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			found[path+" "+licence+"\n"] = true
		}
	}
	today := strings.Join(slices.Sorted(maps.Keys(found)), "")
	listed, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	if string(listed) != today {
		return fmt.Errorf("%s is not what is used; it should have\n%s", licences, today)
	}
	return nil
}

// licenceOf names the licences of the module in a directory.
func licenceOf(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return "", err
	}
	names := map[string]bool{}
	for _, file := range files {
		base := strings.ToUpper(filepath.Base(file))
		if !strings.HasPrefix(base, "LICEN") && !strings.HasPrefix(base, "COPYING") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		before := len(names)
		words := strings.Join(strings.Fields(string(text)), " ")
		for sentence, name := range allowed {
			if strings.Contains(words, sentence) {
				names[name] = true
			}
		}
		if len(names) == before {
			return "", fmt.Errorf("%s: none of the licences that licence.go allows", file)
		}
	}
	if len(names) == 0 {
		return "", errors.New("no licence")
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), " "), nil
}
