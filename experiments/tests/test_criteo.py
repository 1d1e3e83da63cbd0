"""Criteo's log: a made file of its format is prepared as the paper says, however it is packed; others are refused."""

import gzip
import io
import tarfile

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow_experiments.data.criteo import COLUMNS, HASHED, find_criteo, load_criteo
from hedgerow_experiments.experiment import Key, Selection
from hedgerow_experiments.label import trials
from hedgerow_experiments.label.declared import CRITEO


def line(amount, user="U1", brand="B1", price=9.5, delay=60):
    hashed = {**dict.fromkeys(HASHED, "-1"), "user_id": user, "product_brand": brand}
    return "\t".join(map(str, (int(amount >= 0), amount, delay, 1596439471, 3, price, *hashed.values())))


TEXT = "\n".join([
    line(-1.0), line(20.5), line(400.0, brand="B2"), line(400.01), line(0.0, user="U2"), line(62458773.0),
    line(7.25, user="U1", brand="NA"),
]) + "\n"  # fmt: skip


def written(folder, text=TEXT, name="CriteoSearchData"):
    path = folder / name
    path.write_text(text)
    return path


def test_the_layout_has_the_23_columns_of_the_log():
    assert len(COLUMNS) == 23 and len(HASHED) == 17 and COLUMNS[:2] == ("Sale", "SalesAmountInEuro")


def test_clicks_without_a_sale_and_large_ones_are_left_out_and_rare_values_become_one(tmp_path):
    frame = load_criteo(written(tmp_path), rare=2)
    assert frame["target"].tolist() == [20.5, 400.0, 0.0, 7.25]
    assert list(frame)[:3] == ["time_delay_for_conversion", "nb_clicks_1week", "product_price"] and frame.shape[1] == 21
    assert frame["user_id"].tolist() == [1.0, 1.0, 0.0, 1.0]  # U2 has one sale
    assert frame["product_brand"].tolist() == [1.0, 0.0, 1.0, 0.0] and not frame["product_title"].any()


def test_reading_in_small_parts_gives_the_same(tmp_path):
    path = written(tmp_path)
    assert load_criteo(path, rare=1).equals(load_criteo(path, rare=1, rows=2))


def test_a_heading_is_no_click(tmp_path):
    plain = load_criteo(written(tmp_path), rare=1)
    assert load_criteo(written(tmp_path, "\t".join(COLUMNS) + "\n" + TEXT, "other"), rare=1).equals(plain)


def test_compressed_files_and_the_archive_are_read(tmp_path):
    plain = load_criteo(written(tmp_path), rare=1)
    packed = tmp_path / "CriteoSearchData.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    archive = tmp_path / "criteo-research-search-conversion.tar.gz"
    with tarfile.open(archive, "w:gz") as out:
        for name, content in (("Criteo_Conversion_Search/README.md", b"about"),
                              ("Criteo_Conversion_Search/CriteoSearchData", TEXT.encode())):  # fmt: skip
            member = tarfile.TarInfo(name)
            member.size = len(content)
            out.addfile(member, io.BytesIO(content))
    for path in (packed, archive):
        assert load_criteo(path, rare=1).equals(plain)


def test_it_is_found_in_a_folder_of_data_sets_or_where_the_user_says(tmp_path, monkeypatch):
    monkeypatch.delenv("HEDGEROW_CRITEO", raising=False)
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path))
    folder = tmp_path / "Criteo_Conversion_Search"
    folder.mkdir()
    path = written(folder)
    assert find_criteo() == path
    monkeypatch.setenv("HEDGEROW_CRITEO", str(tmp_path / "mine"))
    assert find_criteo() == tmp_path / "mine"
    with pytest.raises(HedgerowError, match=r"is not at .*mine\. Get it from https://ailab\.criteo\.com"):
        load_criteo()


def test_without_the_file_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("HEDGEROW_CRITEO", raising=False)
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HedgerowError, match=r"not on this machine.*HEDGEROW_CRITEO.*bench run label --datasets nyc"):
        load_criteo()


def no_archive(folder):
    path = folder / "a.tar"
    with tarfile.open(path, "w") as out:
        out.addfile(tarfile.TarInfo("other"), io.BytesIO(b""))
    return path


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: written(folder, "0\t1\t2\n"), "has 3 columns apart by tabs, not the 23"),
        (lambda folder: written(folder, ""), "has 1 columns"),
        (lambda folder: written(folder, line(1.0).replace("1.0\t60", "one\t60")), "is not laid out"),
        (lambda folder: written(folder, TEXT + "0\t1\n" + line(1.0) + "\textra\n"), "is not laid out"),
        (lambda folder: written(folder, line(-1.0)), "holds no sale"),
        (no_archive, "no file CriteoSearchData"),
    ],
)
def test_other_files_are_refused(tmp_path, make, said):
    with pytest.raises(HedgerowError, match=said):
        load_criteo(make(tmp_path))


def test_a_trial_runs_on_it(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [
        line(round(float(a), 2), user=f"U{i % 7}", price=round(float(a) / 2, 2))
        for i, a in enumerate(rng.uniform(0, 400, 300))
    ]
    monkeypatch.setenv("HEDGEROW_CRITEO", str(written(tmp_path, "\n".join(rows) + "\n")))
    trials._case.cache_clear()
    trials._shared.cache_clear()
    assert {k.dataset for k in CRITEO.keys(Selection(repeats=1))} == {"criteo"}
    error = trials.compute(Key("criteo", 0, "boosting", 8.0, "Laplace"), 0)["Laplace"]
    trials._case.cache_clear()
    trials._shared.cache_clear()
    assert 0 < error < 400**2
