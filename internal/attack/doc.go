// Package attack holds tests that treat the built command badly: damaged, mutated and
// bloated files of every kind, degenerate data for every learner, faults of the disk.
// The command may refuse with exit code 2 and a sentence, or answer; it may not panic,
// take memory that a small file dictates, write what it would not read again, or let a
// number through that is not finite.
//
// Every case follows from a seed, which a failure prints. BIGFIT_ATTACK_SEEDS sets how
// many seeds are tried, `make soak SEEDS=20000` a night's worth; BIGFIT_ATTACK_FROM is
// the first of them, so that one case can be tried again. BIGFIT_ATTACK_PROGRAM names a
// command that is built already.
package attack
