"""The index of terms: which words the documents of a collection contain, and how often."""
