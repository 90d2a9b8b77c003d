"""reqall-tantivy: words by BM25 in a tantivy index, outside the catalog's file."""
