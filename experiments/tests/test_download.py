"""Downloads against a server of our own: whole or not at all, resumed, with progress, and refused by checksum."""

import gzip
import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

from hedgerow.errors import HedgerowError
from hedgerow_experiments.data import checksums, datasets, sources
from hedgerow_experiments.data.download import DownloadError, download

BODY = bytes(range(256)) * 1000


class Handler(BaseHTTPRequestHandler):
    """Serves ``server.files``; ``server.cut`` bytes at most a reply, with the full length promised."""

    def do_GET(self):
        server = self.server
        server.seen.append(self.headers.get("Range"))
        body = server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        start = int((self.headers.get("Range") or "bytes=0-")[6:].rstrip("-")) if server.ranges else 0
        if start >= len(body):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if server.length:
            self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start : start + server.cut])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.files, found.seen, found.cut, found.ranges, found.length = {"/a": BODY}, [], len(BODY), True, True
    found.url = f"http://127.0.0.1:{found.server_port}"
    threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


def names(folder):
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def test_a_file_arrives_whole_and_is_not_fetched_twice(server, tmp_path):
    path = download(f"{server.url}/a", tmp_path / "deep" / "a")
    assert path.read_bytes() == BODY and names(path.parent) == ["a"]
    download(f"{server.url}/a", path)
    assert len(server.seen) == 1


def test_a_broken_transfer_is_refused_and_resumed(server, tmp_path):
    server.cut = 100_000
    with pytest.raises(DownloadError, match=r"100000 of 256000 bytes came"):
        download(f"{server.url}/a", tmp_path / "a")
    assert names(tmp_path) == ["a.part"]
    server.cut = len(BODY)
    assert download(f"{server.url}/a", tmp_path / "a").read_bytes() == BODY
    assert server.seen == [None, "bytes=100000-"] and names(tmp_path) == ["a"]


def test_a_server_that_cannot_resume_sends_all_again(server, tmp_path):
    (tmp_path / "a.part").write_bytes(b"stale" * 10)
    server.ranges = False
    assert download(f"{server.url}/a", tmp_path / "a").read_bytes() == BODY


def test_a_part_as_long_as_the_file_or_longer_starts_again(server, tmp_path):
    (tmp_path / "a.part").write_bytes(b"x" * len(BODY))
    assert download(f"{server.url}/a", tmp_path / "a").read_bytes() == BODY
    assert server.seen == [f"bytes={len(BODY)}-", None]


def test_a_length_need_not_be_promised(server, tmp_path):
    server.length = False
    assert download(f"{server.url}/a", tmp_path / "a").read_bytes() == BODY


def test_what_is_not_there_is_said_and_leaves_nothing(server, tmp_path):
    with pytest.raises(DownloadError, match="/b: the server answered 404"):
        download(f"{server.url}/b", tmp_path / "b")
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match="refused"):
        download(f"{server.url}/a", tmp_path / "a")
    assert names(tmp_path) == []


def test_an_interrupt_leaves_a_part_that_is_resumed(server, tmp_path, monkeypatch):
    class Stop(io.StringIO):
        def write(self, text):
            if "%" in text:
                raise KeyboardInterrupt
            return 0

    with pytest.raises(KeyboardInterrupt):
        download(f"{server.url}/a", tmp_path / "a", screen=Stop())
    assert names(tmp_path) == ["a.part"]
    assert download(f"{server.url}/a", tmp_path / "a").read_bytes() == BODY
    assert server.seen[1].startswith("bytes=")


def test_progress_is_shown_on_a_screen_only(server, tmp_path, capsys):
    screen = io.StringIO()
    download(f"{server.url}/a", tmp_path / "a", screen=screen)
    assert screen.getvalue().endswith("\ra: 100 % of 0.3 MB\n") and "\ra:  25 %" in screen.getvalue()
    server.length = False
    download(f"{server.url}/a", tmp_path / "b", screen=screen)
    assert screen.getvalue().endswith("\rb: 0.3 MB\n")
    download(f"{server.url}/a", tmp_path / "c")
    assert capsys.readouterr() == ("", "")


WINE = "a;b;c;d;e;f;g;h;i;j;k;quality\n1;2;3;4;5;6;7;8;9;10;11;5\n2;2;3;4;5;6;7;8;9;10;11.5;6\n"


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "."), text)
    return out.getvalue()


@pytest.fixture
def origin(server, tmp_path, monkeypatch):
    """Red wine at our server, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HEDGEROW_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    source = sources.SOURCES["RED"]
    monkeypatch.setitem(
        datasets.SOURCES, "RED", sources.Source(source.page, (f"{server.url}/wine",), source.prepare, source.steps)
    )
    server.files["/wine"] = zipped(**{"winequality-red__csv": WINE})
    monkeypatch.setitem(datasets.CHECKSUMS, "RED", datasets.checksum(source.prepare([server.files["/wine"]])))
    return server


def test_a_data_set_is_fetched_once_prepared_and_kept_in_the_cache(origin, tmp_path):
    data = datasets.load_dataset("RED")
    assert data.X.shape == (2, 11) and data.y.tolist() == [5, 6] and next(iter(data.X)) == "fixed_acidity"
    assert names(tmp_path / "cache" / "hedgerow") == ["RED.csv.gz"]
    assert datasets.load_dataset("RED").X.equals(data.X) and len(origin.seen) == 1


def test_a_download_goes_to_the_folder_that_was_asked_for(origin, tmp_path, monkeypatch):
    datasets.load_dataset("RED", tmp_path / "mine")
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path / "ours"))
    datasets.load_dataset("RED")
    assert names(tmp_path / "mine") == names(tmp_path / "ours") == ["RED.csv.gz"]
    assert not (tmp_path / "cache").exists()


def test_another_content_is_refused_with_where_to_get_and_put_it(origin, tmp_path):
    origin.files["/wine"] = zipped(**{"winequality-red__csv": WINE.replace("11.5", "11.6")})
    with pytest.raises(HedgerowError, match="the file at the origin has changed") as caught:
        datasets.load_dataset("RED")
    for part in (f"{origin.url}/wine", "archive.ics.uci.edu/dataset/186", "'target'", "RED.csv.gz", "HEDGEROW_DATA"):
        assert part in str(caught.value)
    assert names(tmp_path / "cache" / "hedgerow") == []


def test_a_broken_download_of_a_data_set_goes_on(origin, tmp_path):
    origin.cut = 100
    with pytest.raises(HedgerowError, match="100 of"):
        datasets.load_dataset("RED")
    assert names(tmp_path / "cache" / "hedgerow") == [".RED.raw0.part"]
    origin.cut = len(BODY)
    assert len(datasets.load_dataset("RED").y) == 2
    assert names(tmp_path / "cache" / "hedgerow") == ["RED.csv.gz"]


def test_a_file_that_is_no_archive_or_lacks_the_member_is_removed_and_said(origin, tmp_path):
    for body in (b"<html>sign in</html>", zipped(other__csv=WINE)):
        origin.files["/wine"] = body
        with pytest.raises(HedgerowError, match=r"could not be fetched \((BadZipFile|ValueError)"):
            datasets.load_dataset("RED")
        assert names(tmp_path / "cache" / "hedgerow") == []


def test_a_set_without_an_address_says_what_to_do(origin):
    with pytest.raises(HedgerowError, match=r"transtats.*cancelled and diverted.*FLI\.csv\.gz"):
        datasets.load_dataset("FLI")


def test_openml_is_asked_by_number(monkeypatch, tmp_path):
    frame = pd.DataFrame({"a": ["1", "2"], "MEDV": [3.0, 4.0]})

    def fetch(data_id, as_frame, parser):
        assert (data_id, as_frame) == (531, True)
        return type("Bunch", (), {"frame": frame})

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    want = pd.DataFrame({"a": [1.0, 2.0], "target": [3.0, 4.0]})
    monkeypatch.setitem(checksums.CHECKSUMS, "HOU", datasets.checksum(want))
    path = datasets.fetch_dataset("HOU", tmp_path)
    assert gzip.decompress(path.read_bytes()).decode() == "a,target\n1.0,3.0\n2.0,4.0\n"
