"""Run the core's benchmarks; ``allocation``: those of requests over time; ``blocks``: the race of the Blocks page;
``page``: the Sizing page's, in a browser; ``start``: until a page can be used; ``install``: what is on disk."""

import sys

from tests.bench import bench_core

match sys.argv[1:]:
    case []:
        bench_core.main()
    case ["allocation"]:
        from tests.bench import bench_allocation

        bench_allocation.main()
    case ["blocks"]:
        from tests.bench import bench_blocks

        bench_blocks.main()
    case ["page"]:
        from tests.bench import bench_page

        bench_page.main()
    case ["start"]:
        from tests.bench import bench_start

        bench_start.main()
    case ["install"]:
        from tests.bench import bench_start

        bench_start.install()
    case _:
        sys.exit("python -m tests.bench [allocation | blocks | page | start | install]")
