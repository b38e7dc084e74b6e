// Package npy reads and writes NumPy's .npy and .npz files. It knows shapes and
// element types and nothing of what the arrays mean.
//
// A file is never believed: the header is parsed and bounded, the size it
// claims is compared with the bytes that are there, and only then is memory
// taken. The length of a compressed stream cannot be known beforehand, so memory
// grows with the bytes that arrive. Payloads that lie in the file as they lie in
// memory are read in place. Payloads of the other byte order are
// decoded by gonpy, a chunk at a time under a header of our own: gonpy takes memory for
// whatever a header claims, and it knows neither strings nor the end of a file. Tests hold that
// gonpy reads the files of this package, and this package the files of gonpy.
//
// Every file is written under a temporary name in the same directory, synced
// and renamed: a reader sees the old file or the whole new one.
package npy
