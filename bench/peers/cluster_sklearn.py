"""scikit-learn's SpectralClustering on a graph, with its own eigenvectors and k-means.

Debian: python3-numpy python3-scipy python3-sklearn.  Arguments: W.npz y.npy clusters
"""
import json
import sys
import time

import numpy
import scipy.sparse
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

weights = scipy.sparse.load_npz(sys.argv[1]).tocsr()
truth, clusters = numpy.load(sys.argv[2]), int(sys.argv[3])
model = SpectralClustering(clusters, affinity="precomputed", assign_labels="kmeans", n_init=10, random_state=0)
start = time.perf_counter()
labels = model.fit_predict(weights)
seconds = time.perf_counter() - start

degree = numpy.asarray(weights.sum(axis=1)).reshape(-1)
member = scipy.sparse.csr_matrix((numpy.ones(len(labels)), (labels, numpy.arange(len(labels)))), shape=(clusters, len(labels)))
volume = member @ degree
inside = (member @ weights @ member.T).diagonal()
with open("/proc/self/status") as status:  # getrusage would count the memory of the program that started this one
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps({
    "peer": "scikit-learn", "seconds": seconds, "nmi": normalized_mutual_info_score(truth, labels),
    "adjusted_rand": adjusted_rand_score(truth, labels), "ncut": float(((volume - inside) / volume).sum()), "peak_bytes": peak,
}))
