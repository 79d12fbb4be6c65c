"""Benchmarks: ``python -m tests.bench``. They print, with the goal beside it; a slow machine fails nothing."""
