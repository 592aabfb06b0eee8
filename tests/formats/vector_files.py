"""Files of word vectors as others write them: word2vec has a header, GloVe has none, and word2vec can be binary."""

import gzip


def write_vectors(path, words, matrix, *, format="word2vec"):
    rows = [f"{len(words)} {matrix.shape[1]}\n".encode()] if format != "glove" else []
    for word, row in zip(words, matrix, strict=True):
        binary = row.astype("<f4").tobytes() + b"\n"
        # Nine digits name a float32 exactly.
        text = " ".join(f"{value:.9g}" for value in row.tolist()).encode() + b"\n"
        rows.append(word.encode() + b" " + (binary if format == "binary" else text))
    data = b"".join(rows)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
