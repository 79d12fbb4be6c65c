"""Run all benchmarks."""

from tests.bench import bench_core

bench_core.main()
