"""Run the core's benchmarks; ``allocation``: those of requests over time; ``page``: the page's, in a browser."""

import sys

from tests.bench import bench_core

match sys.argv[1:]:
    case []:
        bench_core.main()
    case ["allocation"]:
        from tests.bench import bench_allocation

        bench_allocation.main()
    case ["page"]:
        from tests.bench import bench_page

        bench_page.main()
    case _:
        sys.exit("python -m tests.bench [allocation | page]")
