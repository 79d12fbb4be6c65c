"""Asks what is known to be wrong with the packages that are deployed, by ``pip-audit``.

    python scripts/audit.py

Exit code 1: something is known, and a release mends it. Where nobody answers, that is said, and fails nothing.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

DEPLOYED = ("deploy/requirements.txt", "deploy/requirements-live.txt")
OPTIONS = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")
PATIENCE_S = 120
ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Print what was found."""
    try:
        run = subprocess.run(  # noqa: S603 - nothing in it comes from outside
            [sys.executable, "-m", "pip_audit", *OPTIONS, *(f"--requirement={ROOT / name}" for name in DEPLOYED)],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        packages: list[dict[str, Any]] = json.loads(run.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        print(f"Not audited: no answer in {PATIENCE_S} s.")
        return 0
    except (ValueError, KeyError):
        print(f"Not audited: {(run.stderr.strip().splitlines() or ['no answer'])[-1][:200]}")
        return 0
    return told(packages)


def told(packages: list[dict[str, Any]]) -> int:
    """What pip-audit said of each package; 1 where a release mends something."""
    audited = [package for package in packages if "skip_reason" not in package]
    if not audited:
        print(f"Not audited: the service that was reached knows none of the {len(packages)} packages.")
        return 0
    mended = 0
    for package in audited:
        for found in package["vulns"]:
            fixes = ", ".join(found["fix_versions"])
            mended += bool(fixes)
            print(f"{package['name']} {package['version']}: {found['id']}, {f'mended in {fixes}' if fixes else 'open'}")
    print(f"Audited {len(audited)} of {len(packages)} packages; mended in other releases: {mended}.")
    return 1 if mended else 0


if __name__ == "__main__":
    sys.exit(main())
