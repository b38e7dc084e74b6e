"""Classes of new points by a vote of their nearest labeled points, found by FAISS.

Debian: python3-numpy python3-faiss
Arguments: train.npz test.npz k; both hold X and y
Prints one JSON line.
"""
import json
import sys
import time

import faiss
import numpy

train, test, k = numpy.load(sys.argv[1]), numpy.load(sys.argv[2]), int(sys.argv[3])
points, queries = (numpy.ascontiguousarray(a["X"], dtype=numpy.float32) for a in (train, test))
labels, truth = train["y"].astype(numpy.int64), test["y"]
classes = labels.max() + 1

start = time.perf_counter()
index = faiss.IndexFlatL2(points.shape[1])
index.add(points)
voters = labels[index.search(queries, k)[1]]
counts = numpy.zeros((len(queries), classes), dtype=numpy.int64)
numpy.add.at(counts, (numpy.arange(len(queries))[:, None], voters), 1)
answers = counts.argmax(axis=1)
seconds = time.perf_counter() - start
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps({"peer": "FAISS IndexFlatL2 and a vote", "seconds": seconds, "peak_bytes": peak,
                  "points_per_second": int(len(queries) / seconds), "error_percent": float(100 * (answers != truth).mean())}))
