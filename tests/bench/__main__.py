"""Run the core's benchmarks; with ``page`` the page's, which need a browser."""

import sys

from tests.bench import bench_core

if sys.argv[1:] == ["page"]:
    from tests.bench import bench_page

    bench_page.main()
else:
    bench_core.main()
