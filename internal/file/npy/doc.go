// Package npy reads and writes NumPy's .npy and .npz files. It knows shapes and
// element types and nothing of what the arrays mean.
//
// A file is never believed: the header is parsed and bounded, the size it
// claims is compared with the bytes that are there, and only then is memory
// taken. The length of a compressed stream cannot be known beforehand, so memory
// grows with the bytes that arrive. Payloads that lie in the file as they lie in
// memory are read in place; payloads of the other byte order are
// decoded by gonpy, which sees nothing that has not been validated.
//
// Every file is written under a temporary name in the same directory, synced
// and renamed: a reader sees the old file or the whole new one.
package npy
