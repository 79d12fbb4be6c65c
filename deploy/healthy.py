"""Whether the app beside it answers; for the container, or a supervisor on a plain server.

python deploy/healthy.py    exit 0: it does
"""

import os
import sys
import urllib.request


def address(environ: "os._Environ[str] | dict[str, str]" = os.environ) -> str:
    """Of the health check, wherever these variables put it."""
    host = environ.get("STREAMLIT_SERVER_ADDRESS", "")
    if host in ("", "0.0.0.0", "::"):  # noqa: S104 - every address of the machine: its own to itself is one
        host = "127.0.0.1"
    port = environ.get("STREAMLIT_SERVER_PORT", "8501")
    path = environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/{path}{'/' if path else ''}healthz"


if __name__ == "__main__":
    straight = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        straight.open(address(), timeout=4)
    except (OSError, ValueError) as error:
        sys.exit(f"{address()} does not answer: {error}")
