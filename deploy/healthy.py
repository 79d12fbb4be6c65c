"""Whether the app beside it answers; for the container, or a supervisor on a plain server.

python deploy/healthy.py    exit 0: it does
"""

import os
import urllib.request


def address(environ: "os._Environ[str] | dict[str, str]" = os.environ) -> str:
    """Of the health check, wherever these variables put it."""
    port = environ.get("STREAMLIT_SERVER_PORT", "8501")
    path = environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    return f"http://127.0.0.1:{port}/{path}{'/' if path else ''}healthz"


if __name__ == "__main__":
    urllib.request.urlopen(address(), timeout=4)  # noqa: S310 - always http
