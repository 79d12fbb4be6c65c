"""Requests over time: who holds which blocks of the pool, and what that leaves for others. Standard library only."""
