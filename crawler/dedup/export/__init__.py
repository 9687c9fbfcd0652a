"""An index as a file: written, and read into another index or a job on Spark."""
