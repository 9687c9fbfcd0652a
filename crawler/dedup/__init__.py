"""Near-duplicate detection: text in, numbers and verdicts out."""
