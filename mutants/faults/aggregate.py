"""Faults of the aggregate model: two servers that see no record, and noise that is drawn once."""

from __future__ import annotations

from mutants.fault import Fault

_MEMORY = "tests/aggregate/test_aggregate.py"
_SERVERS = "tests/service/test_service_shared.py"
_PAGE = "tests/holder/test_holder_sums.py"

FAULTS = (
    Fault(
        name="noise is drawn again at every collection",
        path="src/hedgerow/service/shared/closing.py",
        before="    before = released_of(connection, collection.number)\n    if before is not None:\n",
        after="    before = released_of(connection, collection.number)\n    if before is not None and before.n < 0:\n",
        caught_by=(f"{_SERVERS}::test_a_crash_at_any_step_changes_nothing",),
    ),
    Fault(
        name="the share without noise is kept after its release",
        path="src/hedgerow/service/shared/closing.py",
        before="    erase(connection, collection.number)\n",
        after="",
        caught_by=(f"{_SERVERS}::test_noise_is_drawn_once_and_answered_for_ever",),
    ),
    Fault(
        name="a batch of one is released",
        path="src/hedgerow/aggregate/release.py",
        before="    if batch.n < protocol.min_batch:\n",
        after="    if batch.n < 1:\n",
        caught_by=(f"{_MEMORY}::test_fewer_than_the_least_batch_are_never_released",),
    ),
    Fault(
        name="the helper takes the leader's word for the size of the batch",
        path="src/hedgerow/service/shared/closing.py",
        before="    if batch.n < protocol.min_batch:\n",
        after="    if n < protocol.min_batch - 1:\n",
        caught_by=(f"{_SERVERS}::test_the_helper_alone_refuses_too_few_and_another_set",),
    ),
    Fault(
        name="ids of both servers are not compared",
        path="src/hedgerow/aggregate/batch.py",
        before="        if (n, checksum) != (self.n, self.checksum):\n",
        after="        if n != self.n:\n",
        caught_by=(f"{_MEMORY}::test_unequal_sets_are_noticed",),
    ),
    Fault(
        name="one server's noise is missing",
        path="src/hedgerow/aggregate/release.py",
        before="    noise = discrete_gaussian(protocol.variance, protocol.length, randomness)\n",
        after="    variance = protocol.variance if role is Role.LEADER else protocol.variance * 0\n"
        "    noise = discrete_gaussian(variance, protocol.length, randomness)\n",
        caught_by=(f"{_MEMORY}::test_each_server_adds_the_whole_noise",),
    ),
    Fault(
        name="each server adds half of the noise",
        path="src/hedgerow/aggregate/release.py",
        before="    noise = discrete_gaussian(protocol.variance, protocol.length, randomness)\n",
        after="    noise = discrete_gaussian(protocol.variance / 2, protocol.length, randomness)\n",
        caught_by=(f"{_MEMORY}::test_each_server_adds_the_whole_noise",),
    ),
    Fault(
        name="a report that is known is added again",
        path="src/hedgerow/aggregate/verify.py",
        before="            if entry.report_id in known:\n",
        after="            if entry.report_id in ():\n",
        caught_by=(f"{_MEMORY}::test_known_ids_are_refused_whatever_they_come_with",),
    ),
    Fault(
        name="a refused report may be tried again",
        path="src/hedgerow/service/shared/helper.py",
        before="        new = [entry for entry in job.entries if entry.report_id not in known]\n",
        after="        new = [e for e, code in zip(job.entries, made.codes, strict=True) if code == 0]\n",
        caught_by=(f"{_SERVERS}::test_a_refused_report_has_had_its_one_try",),
    ),
    Fault(
        name="the helper adds to a batch that was collected",
        path="src/hedgerow/service/shared/helper.py",
        before="        if closed is not None:\n",
        after="        if closed is not None and closed < 0:\n",
        caught_by=(f"{_SERVERS}::test_the_helper_adds_nothing_after_the_collection",),
    ),
    Fault(
        name="a job that is sent again is added again",
        path="src/hedgerow/service/shared/helper.py",
        before="        return bytes(row.body)\n",
        after="        return None\n",
        caught_by=(f"{_SERVERS}::test_the_helper_alone_refuses_what_it_has_seen_valid_or_not",),
    ),
    Fault(
        name="a message between servers is not checked",
        path="src/hedgerow/service/shared/peers.py",
        before="        verifying.verify(data[_KEY : _KEY + _SIGNATURE], _covered(path, body, request))\n",
        after="        _ = verifying\n",
        caught_by=(f"{_SERVERS}::test_unsigned_wrongly_signed_and_foreign_messages_are_refused",),
    ),
    Fault(
        name="one nonce for all reports of the page",
        path="src/hedgerow/holder/web/sums.js",
        before="    const token = source.take(12);\n",
        after="    const token = new Uint8Array(12);\n",
        caught_by=(f"{_PAGE}::test_shares_are_those_of_python_and_both_servers_add_them_up",),
    ),
    Fault(
        name="the page seals both parts for one server",
        path="src/hedgerow/holder/web/sums.js",
        before="    const second = await seal(helper.sealing,",
        after="    const second = await seal(leader.sealing,",
        caught_by=(f"{_PAGE}::test_shares_are_those_of_python_and_both_servers_add_them_up",),
    ),
    Fault(
        name="another verify key than the task commits to",
        path="src/hedgerow/aggregate/protocol.py",
        before="        if not hmac.compare_digest(hashlib.sha256(key).digest(), self.servers.verify_key_digest):\n",
        after="        if not key:\n",
        caught_by=(f"{_MEMORY}::test_another_key_than_the_pinned_one_and_another_verify_key_are_refused",),
    ),
    Fault(
        name="a restored backup takes reports again and draws again",
        path="src/hedgerow/service/backup.py",
        before="        _end_shared(connection)\n",
        after="",
        caught_by=(f"{_SERVERS}::test_a_restored_backup_releases_nothing_that_was_open",),
    ),
)
