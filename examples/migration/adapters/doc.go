// Package adapters has caches with the methods of other caches, made of firn: a
// program that came with one of those goes on with its calls, and changes them in
// time. Copy the file that fits. Each has the methods that programs use most;
// docs/MIGRATION.md says what becomes of the others.
//
// firn's Set can fail where the other's cannot: then the key is left without a value,
// for a cache may forget and must not keep what is old.
package adapters
