"""``python -m kvviz`` is the command line."""

from kvviz.cli import main

raise SystemExit(main())
