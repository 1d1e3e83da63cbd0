"""Faults of what is kept: the curator's database, and the receipts of the holder's command."""

from __future__ import annotations

from mutants.fault import Fault

_SEALING = "tests/service/test_sealing.py"
_THIEF = "tests/service/test_service_thief.py"
_SQLITE = f"{_THIEF}::test_sqlite_two_histories_leave_the_same_file"
_PEOPLE = "tests/service/test_service_people.py"
_LIMITS = "tests/service/test_service_limits.py"
_POSTGRES = f"{_THIEF}::test_postgres_two_histories_look_the_same"
_GROUPS = "tests/service/test_service_groups.py"
_TIMELINE = "tests/service/test_timeline.py"

FAULTS = (
    Fault(
        name="a timeline of single reports",
        path="src/hedgerow/service/timeline.py",
        before="        if new >= CROWD and latest < until:\n",
        after="        if new >= 1 and latest < until:\n",
        caught_by=(f"{_TIMELINE}::test_a_count_is_written_when_an_hour_has_ended_with_a_crowd",),
    ),
    Fault(
        name="a count is written as soon as there is a crowd",
        path="src/hedgerow/service/timeline.py",
        before="    if before is None or before >= full or now - full > _LATE:\n",
        after="    if before is None or now - full > _LATE:\n",
        caught_by=(f"{_TIMELINE}::test_a_count_is_written_when_an_hour_has_ended_with_a_crowd",),
    ),
    Fault(
        name="ids stand in the order of arrival",
        path="src/hedgerow/service/ids.py",
        before='    return sorted_rows(unpacked(b"".join(parts))).tobytes()\n',
        after='    return b"".join(parts)\n',
        caught_by=(_SQLITE,),
    ),
    Fault(
        name="tokens stand in the order of arrival",
        path="src/hedgerow/service/known.py",
        before="for digest, n in sorted(spent.items()))",
        after="for digest, n in spent.items())",
        caught_by=(_SQLITE,),
    ),
    Fault(
        name="payloads of a commit stand in the order of arrival",
        path="src/hedgerow/service/intake.py",
        before="        rows = sorted_rows(np.concatenate(kept))\n",
        after="        rows = np.concatenate(kept)\n",
        caught_by=(f"{_THIEF}::test_a_payload_of_a_group_does_not_stand_where_its_id_does",),
    ),
    Fault(
        name="sums of single reports are kept as groups",
        path="src/hedgerow/service/aggregator.py",
        before="            if one is not None:\n",
        after="            if one is not None and False:\n",
        caught_by=(f"{_GROUPS}::test_groups_that_stay_small_are_put_together_when_the_task_is_closed[sqlite]",),
    ),
    Fault(
        name="more groups than reports fill",
        path="src/hedgerow/service/service.py",
        before="    if expected < least:\n",
        after="    if expected < groups:\n",
        caught_by=(f"{_GROUPS}::test_what_cannot_be_trimmed_is_refused_by_name",),
    ),
    Fault(
        name="kept reports stand in the order of arrival",
        path="src/hedgerow/service/aggregator.py",
        before="        rows = sorted_rows(kept_rows(kind, bodies))\n",
        after="        rows = kept_rows(kind, bodies)\n",
        caught_by=(_SQLITE,),
    ),
    Fault(
        name="SQLite's write-ahead log is not cut",
        path="src/hedgerow/service/scrub.py",
        before='            busy = run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]\n',
        after="            busy = 0\n",
        caught_by=(_SQLITE,),
    ),
    Fault(
        name="SQLite does not overwrite what it deletes",
        path="src/hedgerow/service/database.py",
        before='"secure_delete=ON"',
        after='"secure_delete=OFF"',
        caught_by=(_SQLITE,),
    ),
    Fault(
        name="PostgreSQL's tables are not written anew",
        path="src/hedgerow/service/scrub.py",
        before="        _rewrite(connection, YOUNG)\n",
        after="        pass\n",
        caught_by=(_POSTGRES,),
    ),
    Fault(
        name="PostgreSQL's old pages stay in the file",
        path="src/hedgerow/service/scrub.py",
        before='        f"TRUNCATE {name}",\n',
        after='        f"DELETE FROM {name}",\n',
        caught_by=(_POSTGRES,),
    ),
    Fault(
        name="a reader loses the table that is rewritten",
        path="src/hedgerow/service/database.py",
        before='                    connection.exec_driver_sql(f"LOCK TABLE {_YOUNG} IN ACCESS SHARE MODE")\n',
        after="                    pass\n",
        caught_by=(f"{_THIEF}::test_a_reader_is_waited_for_and_sees_one_moment",),
    ),
    Fault(
        name="which invitations were exchanged is not forgotten",
        path="src/hedgerow/service/removal.py",
        before="    (exchanges, exchanges.c.blinded),\n)\n",
        after=")\n",
        caught_by=(f"{_THIEF}::test_nothing_tells_which_invitations_were_exchanged",),
    ),
    Fault(
        name="exchanges lie in the order in which they came",
        path="src/hedgerow/service/scrub.py",
        before="    elif database.exchanged:\n",
        after="    elif False:\n",
        caught_by=(f"{_THIEF}::test_nothing_tells_which_invitation_was_exchanged_first",),
    ),
    Fault(
        name="an invitation is exchanged at two servers at once",
        path="src/hedgerow/service/passes.py",
        before="    refused = writer.run_in_turn(change)",
        after="    refused = writer.run(change)",
        caught_by=("tests/service/test_service_turns.py::test_an_invitation_is_exchanged_once_at_both",),
    ),
    Fault(
        name="deleted ids come back by the other server's merge",
        path="src/hedgerow/service/removal.py",
        before="        while writer.run_in_turn(some):",
        after="        while writer.run(some):",
        caught_by=("tests/service/test_service_turns.py::test_what_one_deletes_the_other_does_not_bring_back",),
    ),
    Fault(
        name="what was scrubbed is not known any more",
        path="src/hedgerow/service/known.py",
        before="        self.young = Ids(connection.execute(_PACKED.where(known.c.task == self.task)).scalar_one())\n",
        after="        self.young = Ids()\n",
        caught_by=(f"{_THIEF}::test_sqlite_forgets_after_a_crash_at_any_moment",),
    ),
    Fault(
        name="ids of a row that is cut in two are lost",
        path="src/hedgerow/service/sealing.py",
        before="            database.seal(connection, task, row.run, rest)\n",
        after="            pass\n",
        caught_by=(f"{_SEALING}::test_ids_are_known_after_every_piece_of_a_merge",),
    ),
    Fault(
        name="runs that come while others are merged go with them",
        path="src/hedgerow/service/sealing.py",
        before="            left = [run for run in own if run <= newest]\n",
        after="            left = own if newest >= 0 else []\n",
        caught_by=(f"{_SEALING}::test_ids_are_known_after_every_piece_of_a_merge",),
    ),
    Fault(
        name="everybody knows the key by which reports are dealt into groups",
        path="src/hedgerow/service/kinds.py",
        before="        self._group_key = group_key\n",
        after="        self._group_key = bytes(32)\n",
        caught_by=(f"{_GROUPS}::test_trimmed_totals_are_those_of_the_library",),
    ),
    Fault(
        name="a gateway's reports are dealt into all groups",
        path="src/hedgerow/service/kinds.py",
        before="found * len(ids) if bearer else found",
        after="[i % self.n_groups for i in range(len(ids))] if bearer else found",
        caught_by=(f"{_GROUPS}::test_a_gateway_that_forges_is_in_one_group",),
    ),
    Fault(
        name="a sieve that lacks ids of another server is trusted",
        path="src/hedgerow/service/known.py",
        before="            if left != len(gone):  # others were merged in the meantime\n",
        after="            if left < 0:\n",
        caught_by=(f"{_SEALING}::test_a_sieve_lacks_what_was_merged_unseen",),
    ),
    Fault(
        name="what an undone commit brought stays known",
        path="src/hedgerow/service/known.py",
        before="                del self._views[each.task]  # the transaction may have looked at its own arrivals\n",
        after="                pass\n",
        caught_by=(f"{_SEALING}::test_a_commit_that_fails_leaves_nothing_in_memory",),
    ),
    Fault(
        name="a token that was taken off its number is taken off again",
        path="src/hedgerow/service/known.py",
        before="            del self._moving_spent[piece]\n",
        after="            pass\n",
        caught_by=(f"{_SEALING}::test_a_token_of_many_reports_goes_on",),
    ),
    Fault(
        name="the database is scrubbed only when the service stops",
        path="src/hedgerow/service/aggregator.py",
        before="            return over or self._dirty()\n",
        after="            return over\n",
        caught_by=(_SQLITE,),
    ),
    Fault(
        name="a backup tells which ids and tokens came together",
        path="src/hedgerow/service/backup.py",
        before="    if table is arrivals:\n        return\n    if table is known:\n",
        after="    if table is None:\n",
        caught_by=(f"{_THIEF}::test_a_backup_tells_no_more_than_the_scrubbed",),
    ),
    Fault(
        name="reports are acknowledged into a file that was removed",
        path="src/hedgerow/service/database.py",
        before="            self.file.check()  # after the commit: what a removed file took is not acknowledged\n",
        after="            pass\n",
        caught_by=("tests/service/test_service_storage.py::test_nothing_is_acknowledged_into_a_file_that_was_removed",),
    ),
    Fault(
        name="a mistyped path becomes a database",
        path="src/hedgerow/service/migrate.py",
        before="    if before or not create:\n",
        after="    if before:\n",
        caught_by=("tests/service/test_migrate.py::test_nothing_but_init_makes_a_database",),
    ),
    Fault(
        name="signing out leaves the session",
        path="src/hedgerow/service/dashboard/session.py",
        before="    connection.execute(sessions.delete().where(sessions.c.digest == digest_of(cookie)))\n",
        after="",
        caught_by=(f"{_PEOPLE}::test_a_session_holds_on_every_server_and_ends_on_every_server",),
    ),
    Fault(
        name="a token is good for everything",
        path="src/hedgerow/service/curators.py",
        before="        return scope in self.scopes\n",
        after="        return bool(scope)\n",
        caught_by=(f"{_PEOPLE}::test_a_token_allows_what_its_scopes_say",),
    ),
    Fault(
        name="a refusal by anything on the way ends a paid report",
        path="src/hedgerow/holder/device.py",
        before="            if error.ours and error.code in _FINAL:\n",
        after="            if 400 <= error.status < 500:\n",
        caught_by=("tests/holder/test_holder_device.py::test_a_refusal_that_may_pass_does_not_end_a_paid_report",),
    ),
    Fault(
        name="what waits is not counted towards the most reports",
        path="src/hedgerow/service/intake.py",
        before="        for table in (partials, uploads, jobs)\n",
        after="        for table in (partials, jobs)\n",
        caught_by=(f"{_LIMITS}::test_reports_beyond_the_limit_are_refused_and_copies_are_not",),
    ),
    Fault(
        name="uploads of one commit do not see each other's reports",
        path="src/hedgerow/service/intake.py",
        before="    seen.room -= len(kept)\n",
        after="",
        caught_by=(f"{_LIMITS}::test_uploads_of_one_commit_share_what_is_left",),
    ),
    Fault(
        name="a token is for any record",
        path="src/hedgerow/service/intake.py",
        before="        if upload.records is not None and upload.records[i] not in own:\n",
        after="        if upload.records is not None and upload.records[i] < 0:\n",
        caught_by=(
            "tests/service/test_service_kinds.py::test_a_token_is_for_its_record_and_no_stranger_takes_another",
        ),
    ),
    Fault(
        name="addresses are kept as they are",
        path="src/hedgerow/service/rates.py",
        before="        digest = hashlib.blake2b(what.encode(), digest_size=16, key=self._key, person=purpose).digest()\n",
        after="        digest = purpose + what.encode()\n",
        caught_by=(f"{_LIMITS}::test_no_address_is_stored_or_logged",),
    ),
)
