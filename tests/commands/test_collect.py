"""``hedgerow collect`` and who runs a server, from the command line."""

import json

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("pyhpke")

from hedgerow.cli import main


def run(capsys, *arguments):
    code = main(list(arguments))
    out = capsys.readouterr()
    return code, out.out, out.err


def test_a_key_is_made_once_and_for_its_owner_only(tmp_path, capsys):
    path = tmp_path / "collector.key"
    code, out, _ = run(capsys, "collect", "key", str(path), "--json")
    assert code == 0 and len(json.loads(out)["public"]) == 64 and path.stat().st_mode & 0o777 == 0o600
    assert json.loads(out)["public"] not in path.read_text()
    assert run(capsys, "collect", "key", str(path))[0] == 2
    path.chmod(0o644)
    code, _, err = run(
        capsys, "collect", "servers", "https://a.example", "https://b.example", "--key", str(path), "-o", "x"
    )
    assert code == 2 and "chmod 600" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("key", "a", "b"),
        ("key", "a", "--key", "b"),
        ("servers", "https://a.example", "--key", "k", "-o", "x"),
        ("sums", "https://a.example/join/" + 64 * "0"),
        ("servers", "https://a.example", "https://b.example", "--key", "k", "-o", "x", "--sums", "y"),
        ("sums", "https://a.example", "--key", "k", "-o", "x"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(arguments, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "collect", *arguments)[0] == 2
    assert list(tmp_path.iterdir()) == []


def test_an_operator_is_said_once_and_peers_are_added_from_cards(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HEDGEROW_CURATOR_TOKEN", "a-token-of-these-tests")
    cards = {}
    for name in ("town", "club"):
        database = ("--database", f"sqlite:///{tmp_path}/{name}.db")
        assert run(capsys, "serve", "init", *database)[0] == 0
        assert run(capsys, "serve", "operator", *database)[0] == 2  # nobody has said it yet
        said = ("serve", "operator", "--name", name, "--origin", f"https://{name}.example", *database)
        code, out, _ = run(capsys, *said)
        assert code == 0 and run(capsys, *said)[1] == out
        (tmp_path / f"{name}.json").write_text(out)
        cards[name] = json.loads(out)
        other = ("serve", "operator", "--name", "other", "--origin", "https://other.example", *database)
        assert run(capsys, *other)[0] == 2
    assert cards["town"]["sealing_key"] != cards["club"]["sealing_key"]
    database = ("--database", f"sqlite:///{tmp_path}/town.db")
    code, out, _ = run(capsys, "serve", "peers", "--add", str(tmp_path / "club.json"), "--json", *database)
    assert code == 0 and json.loads(out)["peers"] == [cards["club"]]
    assert run(capsys, "serve", "peers", "--origin", "https://x.example", *database)[0] == 2
