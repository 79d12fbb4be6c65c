"""What an operator reads and builds from: the container, the pins, the table of variables, the proxy's example."""

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kvviz.live import settings as live
from scripts.audit import told

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
DEPLOY = (ROOT / "DEPLOY.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TABLE = dict(re.findall(r"^\| `(\w+)`.*? \| (\S.*?) \| ", DEPLOY, re.MULTILINE))
PINS = {"requirements.txt": (), "requirements-live.txt": ("live",)}


# --- the table of variables ------------------------------------------------------------------------------------------


def test_every_variable_that_the_code_reads_is_in_the_table() -> None:
    sources = [ROOT / "app.py", *(ROOT / "kvviz").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
    sources.append(ROOT / "tests" / "browser" / "harness.py")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    read = set(re.findall(r"environ(?:\.get|\.setdefault)?[\[(]\s*\"(\w+)\"", text))
    read |= set(re.findall(r"\bKVVIZ_\w+\b", text))
    assert read - {"PYTHONPATH", "PATH"} <= set(TABLE)
    ours = {name for name in TABLE if name.startswith("KVVIZ_")}
    assert ours <= read, "a variable that nobody reads"


def test_defaults_in_the_table_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^(KVVIZ_LIVE\w*) +(\S+) +\S", live.__doc__ or "", re.MULTILINE))
    assert rows
    for name, default in rows.items():
        assert TABLE[name].strip("`") == default, name


def test_there_is_one_table() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not re.search(r"^\| `KVVIZ_", readme, re.MULTILINE)


# --- the pins --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PINS)
def test_every_package_is_pinned_with_its_hashes(name: str) -> None:
    text = (ROOT / "deploy" / name).read_text(encoding="utf-8")
    assert "://" not in text, "names the place where packages were found"
    entries = re.split(r"\n(?=\w)", text)
    pinned = {}
    for entry in entries:
        package = re.match(r"([\w.-]+)(?:\[[\w,]+\])?==([\w.!+]+)", entry)
        assert package, entry[:60]
        assert "--hash=sha256:" in entry, package[1]
        pinned[canonicalize_name(package[1])] = package[2]
    extras = [line for extra in PINS[name] for line in PROJECT["optional-dependencies"][extra]]
    for line in [*PROJECT["dependencies"], *extras]:
        wanted = Requirement(line)
        found = pinned.get(canonicalize_name(wanted.name))
        assert found, f"{wanted.name}: make the pins anew, as DEPLOY.md says"
        assert wanted.specifier.contains(found), f"{wanted.name} {found}: make the pins anew, as DEPLOY.md says"
    assert ("torch" in pinned) == bool(PINS[name])


# --- the container ---------------------------------------------------------------------------------------------------


def test_what_the_image_is_made_of_is_there_and_nothing_else_is_sent() -> None:
    copied = {part for line in re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE) for part in line.split()}
    assert all((ROOT / part).exists() for part in copied)
    let_in = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE))
    assert (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()[1] == "*"
    assert all(any(Path(part).match(pattern) for pattern in let_in) for part in copied)
    needed = {"app.py", "pages", "kvviz", "assets", ".streamlit"}
    assert needed <= copied


def test_it_does_not_run_as_root_and_says_how_it_is() -> None:
    assert re.findall(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE) == ["1000"]
    assert DOCKERFILE.index("\nUSER 1000") < DOCKERFILE.index("\nCMD")
    assert 'CMD ["python", "deploy/healthy.py"]' in DOCKERFILE
    # Nothing listens on that port here: the command itself must be able to say so.
    command = [sys.executable, str(ROOT / "deploy" / "healthy.py")]
    environ = {"STREAMLIT_SERVER_PORT": "1"}
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert answer.returncode == 1
    assert re.fullmatch(r"http://127\.0\.0\.1:1/healthz does not answer: .+\n", answer.stderr)


def test_the_health_check_asks_where_the_server_was_told_to_listen() -> None:
    address = runpy.run_path(str(ROOT / "deploy" / "healthy.py"))["address"]
    assert address({}) == "http://127.0.0.1:8501/healthz"
    moved = {"STREAMLIT_SERVER_PORT": "80", "STREAMLIT_SERVER_BASE_URL_PATH": "/kv/"}
    assert address(moved) == "http://127.0.0.1:80/kv/healthz"
    for host, asked in (("0.0.0.0", "127.0.0.1"), ("::", "127.0.0.1"), ("192.0.2.2", "192.0.2.2"), ("::1", "[::1]")):  # noqa: S104
        assert address({"STREAMLIT_SERVER_ADDRESS": host}) == f"http://{asked}:8501/healthz"
    # What is set for a container is not overruled by its command.
    assert "--server." not in DOCKERFILE


def test_the_service_listens_where_the_proxy_looks_and_nowhere_else() -> None:
    unit = (ROOT / "deploy" / "kvviz@.service").read_text(encoding="utf-8")
    assert "STREAMLIT_SERVER_ADDRESS=127.0.0.1" in unit
    assert "Restart=always" in unit
    assert "kvviz@8501 kvviz@8502" in DEPLOY
    nginx = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    assert re.findall(r"server 127\.0\.0\.1:(\d+);", nginx) == ["8501", "8502"]


def test_a_new_commit_does_not_install_the_packages_again() -> None:
    """What follows an argument is built anew where its value is another."""
    assert DOCKERFILE.index("pip install") < DOCKERFILE.index("\nARG COMMIT")


def test_the_space_listens_where_the_container_does() -> None:
    space = (ROOT / "deploy" / "space.md").read_text(encoding="utf-8")
    port = re.search(r"^app_port: (\d+)$", space, re.MULTILINE)
    assert port
    assert f"EXPOSE {port[1]}" in DOCKERFILE
    assert space.startswith("---\n")


def test_the_proxy_keeps_visitors_with_their_replica_and_their_host() -> None:
    nginx = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    for needed in ("hash $remote_addr", "Host $http_host;", "Upgrade $http_upgrade", "client_max_body_size 6m;"):
        assert needed in nginx
    # Nobody's private config in a log, no session count for strangers, a bound for each address.
    (form,) = re.findall(r"log_format (.*);", nginx)
    assert not {"$request ", "$request_uri", "$args", "$http_referer"} & set(re.findall(r"\$\w+ ?", form))
    # Its log of errors has whole requests in it, of what it limits or cannot pass on.
    servers = re.findall(r"^server \{.*?^\}", nginx, re.DOTALL | re.MULTILINE)
    assert len(servers) == 2
    for server in servers:
        assert re.search(r"error_log \S+ crit;", server)
        assert "access_log off;" in server or re.search(r"access_log \S+ kvviz;", server)
        assert "large_client_header_buffers 4 64k;" in server
    # A class of thirty behind one address, each with a hundred files over seven connections.
    assert int(re.findall(r"burst=(\d+)", nginx)[0]) >= 30 * 107
    assert int(re.findall(r"limit_conn \w+ (\d+);", nginx)[0]) >= 30 * 7
    for needed in ("/_stcore/metrics { return 404; }", "limit_req zone", "limit_conn kvviz", "return 301"):
        assert needed in nginx


# --- the audit -------------------------------------------------------------------------------------------------------


def test_the_audit_says_what_it_could_not_ask(capsys: pytest.CaptureFixture[str]) -> None:
    unknown = {"name": "a", "skip_reason": "not found"}
    fine = {"name": "b", "version": "1", "vulns": []}
    mended = {"name": "c", "version": "1", "vulns": [{"id": "X-1", "fix_versions": ["2"]}]}
    still_open = {"name": "d", "version": "1", "vulns": [{"id": "X-2", "fix_versions": []}]}
    assert told([unknown]) == 0
    assert capsys.readouterr().out.startswith("Not audited")
    assert told([unknown, fine, still_open]) == 0
    assert "Audited 2 of 3" in capsys.readouterr().out
    assert told([fine, mended]) == 1
    assert "c 1: X-1, mended in 2" in capsys.readouterr().out


def test_what_holds_each_row_of_the_threat_table_is_there() -> None:
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| .* \| (.*) \|$", security, re.MULTILINE)[1:]
    named = [test for row in rows for test in re.findall(r"`(tests/[\w/]+\.py)`", row)]
    assert len(rows) >= 15
    assert [test for test in named if not (ROOT / test).is_file()] == []
