"""The tests; a package so that they can share what tests/browser/harness.py offers."""
