"""Pages that are on disk already: corpora on Spark, and loading the index from them."""
