"""What methods learn from: counted texts, judged pairs, sampled triples, word vectors. Knows nothing of any method."""
