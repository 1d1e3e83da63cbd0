"""Faults of the path from a record to the bytes that leave a device, and of the device's own books."""

from __future__ import annotations

from mutants.fault import Fault

_DEVICE = "tests/holder/test_holder_device.py"
_CONTRACT = "src/hedgerow/tasks/base.py"
_TOKENS = "            tokens = source.uint8(TOKEN_BYTES * len(drawn.payloads)).reshape(-1, TOKEN_BYTES)\n"
_COPIED = _TOKENS + "            tokens = tokens.copy()\n"
_TWO_ROUNDS = "src/hedgerow/tasks/partly_public/holder.py"

_IDS = (
    Fault(
        name="report id carries the true leaf, if the source is secure",
        path=_CONTRACT,
        before=_TOKENS,
        after=_COPIED + "            if not source.simulation:\n"
        "                tokens[:, 0] = self.partition.apply(read()[0])\n",
        caught_by=("audit", "whole: tree, unary"),
    ),
    Fault(
        name="one bit of the report id tells the half that the label is in",
        path=_CONTRACT,
        before=_TOKENS,
        after=_COPIED + "            tokens[:, 11] = tokens[:, 11] & 254 | (read()[1] > sum(self.label_bounds) / 2)\n",
        caught_by=("audit", "whole: pilot"),
    ),
    Fault(
        name="report id is a hash of the record",
        path=_CONTRACT,
        before=_TOKENS,
        after=_COPIED + "            import hashlib\n\n"
        "            for i, z in enumerate(read()[0]):\n"
        "                tokens[i] = list(hashlib.sha256(z.tobytes()).digest()[:12])\n",
        caught_by=("audit", "whole: tree, k_ary"),
    ),
    Fault(
        name="report ids counted up from the label",
        path=_CONTRACT,
        before=_TOKENS,
        after=_COPIED + "            tokens[:, 3] += self.grid.levels(read()[1], source).astype('u1')\n",
        caught_by=("audit", "whole: labels, bins"),
    ),
)

_BODIES = (
    Fault(
        name="bits: cell and label both get the whole epsilon",
        path="src/hedgerow/tasks/tree/bits.py",
        before="    return first, rest\n",
        after="    return epsilon, epsilon\n",
        caught_by=("audit", "whole: tree, bits"),
    ),
    Fault(
        name="fresh label noise for every leaf, as in the paper's code",
        path="src/hedgerow/tasks/tree/bits.py",
        before="        return np.hstack([head, pack(self.cell.randomize(leaf, randomness))])\n",
        after="        bits = pack(self.cell.randomize(leaf, randomness))\n"
        "        bits[:, -1] |= (self.column(level, randomness) & 15).astype(np.uint8) << 4\n"
        "        return np.hstack([head, bits])\n",
        caught_by=("audit", "whole: tree, bits"),
    ),
    Fault(
        name="simulated reports pass for secure",
        path=_CONTRACT,
        before='        simulation = source.simulation or getattr(kept, "simulation", False)\n',
        after="        simulation = False\n",
        caught_by=("tests/tasks/test_report.py::test_report_round_trip",),
    ),
    Fault(
        name="a leaf is told in clear where the label is at its bound",
        path="src/hedgerow/tasks/tree/cells.py",
        before="        cells = self.mechanism.randomize(leaf * self.n_levels + level, randomness)\n",
        after="        cells = self.mechanism.randomize(leaf * self.n_levels + level, randomness)\n"
        "        cells = np.where(level == self.n_steps, leaf * self.n_levels + level, cells)\n",
        caught_by=("audit", "whole: tree, k_ary"),
    ),
    Fault(
        name="the tree of an assisted report depends on the record",
        path="src/hedgerow/tasks/assisted/message.py",
        before="        tree = source.integers(len(self.leaves), len(level))\n",
        after="        tree = leaf[:, 0] % len(self.leaves)\n",
        caught_by=("audit", "whole: assisted"),
    ),
    Fault(
        name="a pilot's bin is sent as it is",
        path="src/hedgerow/tasks/assisted/pilot.py",
        before="        sent = self.response.randomize(self._check(values), as_randomness(randomness))\n",
        after="        sent = self._check(values)\n",
        caught_by=("audit", "whole: pilot"),
    ),
    Fault(
        name="holders far from the public model send a fixed report",
        path="src/hedgerow/tasks/assisted/task.py",
        before="        leaf, error = for_each(self, self.inputs, Z, y)\n",
        after="        leaf, error = for_each(self, self.inputs, Z, y)\n"
        "        if (np.abs(error) > 1).any():\n"
        "            return Drawn(np.zeros((len(error), self.encoding.width), dtype=np.uint8))\n",
        caught_by=("audit", "whole: assisted, levels"),
    ),
    Fault(
        name="label rounded after the noise",
        path="src/hedgerow/tasks/labels/task.py",
        before='        return cast("IntArray", self.mechanism.randomize(self.grid.levels(numbers, source), source))\n',
        after="        levels = self.grid.levels(numbers, source)\n"
        "        place = (np.clip(numbers, self.grid.low, self.grid.high) - self.grid.low) / self.grid.step\n"
        "        whole = np.floor(place).astype(np.int64)\n"
        '        return cast("IntArray", self.mechanism.randomize(whole, source) + levels - whole)\n',
        caught_by=("audit", "whole: labels, interval"),
    ),
    Fault(
        name="a class that cannot be sent is always sent as the first that can",
        path="src/hedgerow/mechanisms/top.py",
        before="            own = np.where(own < 0, blind, own)\n",
        after="            own = np.where(own < 0, 0, own) + 0 * blind\n",
        caught_by=("tests/mechanisms/test_top.py::test_draws_have_the_law_of_a_level_that_cannot_be_sent",),
    ),
    Fault(
        name="an unknown class is sent without noise",
        path="src/hedgerow/tasks/labels/task.py",
        before="        return Drawn(self.encoding.write(Z, self._codes(y, source)))\n",
        after="        codes = self._codes(y, source)\n"
        "        if self.classes is not None:\n"
        "            codes = np.where(y == self.grid.missing, 0, codes)\n"
        "        return Drawn(self.encoding.write(Z, codes))\n",
        caught_by=("audit", "whole: labels, classes"),
    ),
)

_ROUNDS = (
    Fault(
        name="label and cell both get the whole epsilon in two rounds",
        path="src/hedgerow/tasks/partly_public/task.py",
        before="    return (epsilon, 0.0) if share == 1 else split_epsilon(epsilon, share)\n",
        after="    return (epsilon, 0.0) if share == 1 else (epsilon, epsilon)\n",
        caught_by=("tests/audit/test_whole.py::test_both_rounds_with_little_noise",),
    ),
    Fault(
        name="noisy label drawn again for the second round",
        path=_TWO_ROUNDS,
        before="    kept = Secrets(task, tokens, coarse, fine, mask, source.simulation)\n",
        after="    again = task.label.randomize_both(task.grid.levels(labels, source), source)[0]\n"
        "    kept = Secrets(task, tokens, again, fine, mask, source.simulation)\n",
        caught_by=("tests/audit/test_whole.py::test_both_rounds_with_little_noise",),
    ),
    Fault(
        name="the fine label is sent in the first round",
        path=_TWO_ROUNDS,
        before="    coarse = np.where(mask.any(axis=1), coarse, fine)\n",
        after="    coarse = fine\n",
        caught_by=("audit", "whole: partly public, first round, own mask"),
    ),
    Fault(
        name="candidate cells read off the private features",
        path=_TWO_ROUNDS,
        before="    reach = candidates(task.partition, Z, kept.private[part])\n",
        after="    reach = candidates(task.partition, Z, np.zeros_like(kept.private[part]))\n",
        caught_by=("tests/audit/test_whole.py::test_both_rounds_with_little_noise",),
    ),
    Fault(
        name="the fine label is sent whatever the cell",
        path=_TWO_ROUNDS,
        before="    levels = np.where(certain, kept.fine[part], kept.coarse[part])\n",
        after="    levels = kept.fine[part]\n",
        caught_by=("tests/audit/test_whole.py::test_both_rounds_with_little_noise",),
    ),
    Fault(
        name="second round answered as often as it is asked",
        path=_TWO_ROUNDS,
        before="        if self.answered:\n",
        after="        if False:\n",
        caught_by=("tests/semi/test_semi_protocol.py::test_secrets_answer_once",),
    ),
)

_BOOKS = (
    Fault(
        name="a new report is drawn each time a task is answered",
        path="src/hedgerow/holder/device.py",
        before="        if known := self.store.kept(notice.id):\n",
        after="        if (known := self.store.kept(notice.id)) and False:\n",
        caught_by=(f"{_DEVICE}::test_the_same_question_again_gives_the_same_bytes_whatever_the_record",),
    ),
    Fault(
        name="sent before it is paid for",
        path="src/hedgerow/holder/device.py",
        before="        self.store.charge(notice.id, place.base, notice.public_key, token, notice.closes)\n"
        '        checkpoint("charged")\n        return self._deliver(place)\n',
        after='        checkpoint("charged")\n        receipt = self._deliver(place)\n'
        "        self.store.charge(notice.id, place.base, notice.public_key, token, notice.closes)\n        return receipt\n",
        caught_by=(f"{_DEVICE}",),
    ),
    Fault(
        name="second round of another first round is free",
        path="src/hedgerow/holder/device.py",
        before="        if not self.store.charged(first.id, notice.public_key):\n",
        after="        if False:\n",
        caught_by=(f"{_DEVICE}",),
    ),
    Fault(
        name="a server may change its key",
        path="src/hedgerow/holder/device.py",
        before="        if seen is not None and seen != notice.public_key:\n",
        after="        if False:\n",
        caught_by=(f"{_DEVICE}",),
    ),
)

_ASKING = (
    Fault(
        name="a typed number that can be read in two ways is guessed at",
        path="src/hedgerow/holder/typed.py",
        before="        if mark != decimal and thousands:\n",
        after="        if False:\n",
        caught_by=("tests/holder/test_holder_asking.py::test_what_can_be_read_in_two_ways_is_asked_back",),
    ),
    Fault(
        name="the picture of an answer leaves out rounding",
        path="src/hedgerow/tasks/picture.py",
        before="    return {level: 1.0 - part, level + 1: part} if part else {level: 1.0}\n",
        after="    return {level: 1.0}\n",
        caught_by=("tests/holder/test_holder_picture.py",),
    ),
    Fault(
        name="words about what a task does not ask",
        path="src/hedgerow/tasks/asking.py",
        before="        if said != [name for name in dict.fromkeys(names) if name in said]:\n",
        after="        if False:\n",
        caught_by=("tests/test_wording.py::test_words_that_do_not_fit_are_refused",),
    ),
)

FAULTS = (*_IDS, *_BODIES, *_ROUNDS, *_BOOKS, *_ASKING)
