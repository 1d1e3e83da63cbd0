"""Faults of the aggregate model: too little noise, a batch too small, a sign that is not rounded, and no check."""

from __future__ import annotations

from mutants.fault import Fault

_TASK = "tests/tasks/sums/test_task.py"
_CHECK = "tests/tasks/sums/test_check.py"

FAULTS = (
    Fault(
        name="sums have the sensitivity of add/remove, 2.83, though who takes part is known",
        path="src/hedgerow/mechanisms/bit_sums.py",
        before="flips_variance(min(2 * weight, length), self.epsilon, self.delta)",
        after="flips_variance(min(weight, length), self.epsilon, self.delta)",
        caught_by=(f"{_TASK}::test_the_noise_of_one_server_alone_is_enough_and_hardly_more",),
    ),
    Fault(
        name="one server's noise is missing from simulated sums",
        path="src/hedgerow/tasks/sums/noisy.py",
        before="    for _ in range(SERVERS):\n",
        after="    for _ in range(1):\n",
        caught_by=(f"{_TASK}::test_released_sums_have_the_noise_of_both_servers",),
    ),
    Fault(
        name="both servers share one noise",
        path="src/hedgerow/tasks/sums/task.py",
        before="        return BitSums(self.epsilon, self.delta, self.weight, self.length).variance\n",
        after="        return BitSums(self.epsilon, self.delta, self.weight, self.length).variance / 2\n",
        caught_by=(f"{_TASK}::test_the_noise_of_one_server_alone_is_enough_and_hardly_more",),
    ),
    Fault(
        name="sums are released for a batch below the least",
        path="src/hedgerow/tasks/sums/noisy.py",
        before="    if n < task.min_batch_size:\n",
        after="    if n < 1:\n",
        caught_by=(f"{_TASK}::test_nothing_is_released_of_a_batch_below_the_least",),
    ),
    Fault(
        name="a holder draws another sign in every tree",
        path="src/hedgerow/tasks/sums/task.py",
        before="self.grid.levels(error, source)[:, None]\n",
        after="np.stack([self.grid.levels(error, source) for _ in range(self.weight)], axis=1)\n",
        caught_by=(f"{_TASK}::test_a_residual_is_rounded_without_bias",),
    ),
    Fault(
        name="a guarantee of sums is said to hold under add/remove",
        path="src/hedgerow/tasks/sums/task.py",
        before='"trust": "aggregate", "neighbours": "replace"}',
        after='"trust": "aggregate", "neighbours": "add/remove"}',
        caught_by=(f"{_TASK}::test_the_guarantee_states_its_conditions",),
    ),
    Fault(
        name="a check lets everything pass",
        path="src/hedgerow/tasks/sums/check.py",
        before="    return safe_share(Estimate(square, left + square, sd), task.residuals.mean_square)\n",
        after="    return 1.0\n",
        caught_by=(f"{_CHECK}::test_a_correction_that_harms_does_not_pass",),
    ),
    Fault(
        name="a check of the level alone lets a forest pass that nobody checked",
        path="src/hedgerow/sums/checks.py",
        before="    return Checked((step,), ONE_LEAF, (level,), level**2)\n",
        after="    return Checked(tuple(steps), ONE_LEAF, (level,), level**2)\n",
        caught_by=("tests/sums/test_design.py::test_few_holders_check_the_level_alone_and_it_passes",),
    ),
    Fault(
        name="a correction that a group was sent is left out of what it told",
        path="src/hedgerow/tasks/sums/told.py",
        before=" - self.clip.offset * everybody + means @ self.sent\n",
        after=" - self.clip.offset * everybody\n",
        caught_by=(f"{_CHECK}::test_what_was_sent_is_not_learnt_twice",),
    ),
    Fault(
        name="the radius stays where all errors of a group were beyond it",
        path="src/hedgerow/sums/design.py",
        before="self._radius(rows, share, left) + missed\n",
        after="self._radius(rows, share, left)\n",
        caught_by=("tests/sums/test_design.py::test_a_level_beyond_every_public_error_is_found",),
    ),
    Fault(
        name="a check cuts what is left to the size of public errors, however large a correction is",
        path="src/hedgerow/sums/design.py",
        before="        radius = self._seeing(found.levels)\n",
        after="        radius = self._seeing(())\n",
        caught_by=("tests/sums/test_design.py::test_a_level_that_only_groups_before_told_does_not_pass_the_check[8]",),
    ),
    Fault(
        name="a spend with two servers is taken by a limit that trusts nobody",
        path="src/hedgerow/ledger.py",
        before="        if TRUST.index(guarantee.trust) > TRUST.index(limit.trust):\n",
        after='        if guarantee.trust == "central" and limit.trust == "local":\n',
        caught_by=("tests/test_ledger.py::test_a_limit_takes_only_what_needs_no_more_trust",),
    ),
)
