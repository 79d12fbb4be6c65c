"""Run the core's benchmarks; with ``page`` those of the page, which need a browser."""

import sys

from tests.bench import bench_core

match sys.argv[1:]:
    case []:
        bench_core.main()
    case ["page"]:
        from tests.bench import bench_page

        bench_page.main()
    case _:
        sys.exit("python -m tests.bench [page]")
