"""What a trained model is when it is used: encoders and rerankers in numpy. Knows nothing of how they were trained."""
