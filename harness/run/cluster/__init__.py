"""The judges of a run on other machines: workers of a Dask cluster, each with hosts of its own."""
