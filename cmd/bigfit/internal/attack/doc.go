// Package attack holds tests that treat the built command badly: damaged, mutated and
// bloated files of every kind, degenerate data for every learner, kills, faults of the disk, little
// memory and address space.
// The command may refuse with exit code 2 and a sentence, or answer; it may not panic,
// take memory that a small file dictates, write what it would not read again, or let a
// number through that is not finite.
//
// All of it takes minutes, so go test ./... leaves it out. BIGFIT_SOAK=sample tries some cases of each
// test, as .ci/run does; `make soak SEEDS=20000` a night's worth. Every case follows from a seed, which
// a failure prints; BIGFIT_SOAK_FIRST is the first seed, so that one case can be tried again.
// BIGFIT_ATTACK_PROGRAM names a command that is built already.
//
// Kills and faults of the disk need a hook in the writing of files. The test binary of cmd/bigfit has
// it: with KILL_BIGFIT in its environment it runs as the command with a fault at a step.
package attack
