"""Faults of fits whose records are larger than memory: what is read, kept, resumed and added up elsewhere."""

from __future__ import annotations

from mutants.fault import Fault

_FILES = "tests/central/test_anova_files.py"
_SPOOL = "src/hedgerow/sources/spool.py"
_ANOVA = "src/hedgerow/central/anova"

FAULTS = (
    Fault(
        name="a finished fit can be resumed, and draws noise for the same questions again",
        path=f"{_ANOVA}/base.py",
        before="            spool.finish()\n",
        after="",
        caught_by=(f"{_FILES}::test_a_fit_that_was_killed_goes_on_and_is_the_same",),
    ),
    Fault(
        name="a finished spool is not refused",
        path=_SPOOL,
        before="        if os.path.exists(os.path.join(name, _FINISHED)):\n",
        after="        if False:\n",
        caught_by=("tests/sources/test_spool.py::test_a_named_spool_goes_on_and_ends",),
    ),
    Fault(
        name="a spool of another fit is taken up",
        path=_SPOOL,
        before='        elif not hmac.compare_digest(known["work"], digest):\n',
        after="        elif False:\n",
        caught_by=(f"{_FILES}::test_another_fit_does_not_go_on_from_a_spool",),
    ),
    Fault(
        name="a secure fit takes up the quantiles that a seed has drawn",
        path=f"{_ANOVA}/base.py",
        before="self.interactions, source.simulation]\n",
        after="self.interactions]\n",
        caught_by=(f"{_FILES}::test_another_fit_does_not_go_on_from_a_spool",),
    ),
    Fault(
        name="a fit that goes on draws its quantiles again",
        path=f"{_ANOVA}/intake.py",
        before="        if kept is not None and not randomness.simulation:\n",
        after="        if False:\n",
        caught_by=(f"{_FILES}::test_a_secure_fit_goes_on_with_the_quantiles_that_it_had_drawn",),
    ),
    Fault(
        name="quantiles that were drawn before a kill are not charged",
        path=f"{_ANOVA}/intake.py",
        before='            purse.charge(Fraction(kept["spent"]))\n',
        after="",
        caught_by=(f"{_FILES}::test_a_secure_fit_goes_on_with_the_quantiles_that_it_had_drawn",),
    ),
    Fault(
        name="private work on disk is for everybody's eyes",
        path=_SPOOL,
        before='file = os.fdopen(os.open(self._path(f"{name}.bin"), flags, 0o600), "r+b", buffering=0)\n',
        after='file = os.fdopen(os.open(self._path(f"{name}.bin"), flags, 0o644), "r+b", buffering=0)\n',
        caught_by=("tests/sources/test_spool.py::test_a_named_spool_goes_on_and_ends",),
    ),
    Fault(
        name="a file that is named twice counts twice",
        path="src/hedgerow/sources/files.py",
        before="            if first is not path:\n",
        after="            if False:\n",
        caught_by=("tests/sources/test_files.py::test_what_is_no_file_or_twice_is_refused",),
    ),
    Fault(
        name="what Arrow says of a private cell is printed",
        path="src/hedgerow/sources/arrow.py",
        before="            except (pa.ArrowInvalid, OSError):\n",
        after="            except OSError:\n",
        caught_by=(f"{_FILES}::test_datasets_are_fitted_as_in_memory",),
    ),
)
