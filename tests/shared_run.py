"""A run of the tests in several processes that are forked from the one which has collected them.

    pytest -p tests.shared_run --processes 4

To import the code and to collect twenty thousand tests takes twelve seconds of CPU, and each process of xdist does it
for itself. Here it is done once, so that more processes cost little: while some wait, no core is idle. The first one
hands out tests, some of a module at a time, and reports what became of them. A process that dies fails the test that
it ran; another one takes its place. It is for Linux: elsewhere libraries may not bear to be forked.
"""

import atexit
import multiprocessing
import random
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

PART = 25  # tests of a module that are handed out together; its fixtures are made in each process that has a part
AHEAD = 2  # parts that a process has been given: it tears down a module's fixtures if the next part is of another one

FORK = multiprocessing.get_context("fork")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=1, help="processes that run the tests, collected once")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Runs all tests, if that is to be shared."""
    processes: int = session.config.getoption("processes")
    collects_alone = session.config.getoption("collectonly") or session.testsfailed  # pytest says so
    if processes < 2 or collects_alone:
        return None
    others = [each.name for each in threading.enumerate() if each is not threading.main_thread()]
    assert not others, f"no process can be forked from one that has threads: {others}"
    forkserver.ensure_running()  # one for all of them
    _folders(session.config).getbasetemp()  # theirs are in it
    _Run(session).work_off(min(processes, len(session.items)))
    return True


def parts(modules: Sequence[object]) -> Iterator[tuple[int, ...]]:
    """Yields the numbers of all tests, whose modules these are, part by part."""
    for _, found in groupby(range(len(modules)), key=lambda number: modules[number]):
        numbers = tuple(found)
        for first in range(0, len(numbers), PART):
            yield numbers[first : first + PART]


class _Run:
    """The process that hands out tests."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._parts = deque(parts([item.path for item in session.items]))
        self._given: dict[Connection, deque[int]] = {}  # numbers of tests, the one that runs first
        self._processes: dict[Connection, multiprocessing.process.BaseProcess] = {}
        self._begun = 0

    def work_off(self, processes: int) -> None:
        """Returns when all tests have run. Raises Session.Interrupted, Session.Failed if they shall not."""
        try:
            for _ in range(processes):
                self._begin()
            while self._processes:
                for connection in wait(list(self._processes)):
                    assert isinstance(connection, Connection)
                    self._hear(connection)
                if self._session.shouldfail:
                    raise self._session.Failed(self._session.shouldfail)
                if self._session.shouldstop:
                    raise self._session.Interrupted(self._session.shouldstop)
        finally:
            for process in self._processes.values():
                process.kill()
                process.join()

    def _begin(self) -> None:
        here, there = FORK.Pipe()
        self._begun += 1
        begun = (self._session, there, self._begun, [here, *self._processes])
        process = FORK.Process(target=_run, args=begun, name=f"tests {self._begun}")
        process.start()
        there.close()
        self._processes[here], self._given[here] = process, deque()
        for _ in range(AHEAD):
            self._give(here)

    def _give(self, connection: Connection) -> None:
        numbers = self._parts.popleft() if self._parts else ()
        self._given[connection].extend(numbers)
        try:
            connection.send(numbers)
        except OSError:  # it has died, which is heard of next
            return

    def _hear(self, connection: Connection) -> None:
        told = None
        with suppress(EOFError, OSError):
            told = connection.recv()
        if told is None:
            self._ended(connection)
        elif told:
            self._tell(self._given[connection].popleft(), told)
        else:  # a part is done
            self._give(connection)

    def _tell(self, number: int, told: Sequence[dict[str, Any]]) -> None:
        hook, item = self._session.config.hook, self._session.items[number]
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for each in told:
            report = hook.pytest_report_from_serializable(config=self._session.config, data=each)
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _ended(self, connection: Connection) -> None:
        """Fails the test that a process has died of, and lets another one do the rest."""
        process, left = self._processes.pop(connection), self._given.pop(connection)
        connection.close()
        process.join()
        if not left:
            assert process.exitcode == 0, f"a process ended with status {process.exitcode} after its tests"
            return
        number = left.popleft()
        item, config = self._session.items[number], self._session.config
        why = f"the process that ran it has ended, with status {process.exitcode}"
        died = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
        self._tell(number, [config.hook.pytest_report_to_serializable(config=config, report=died)])
        if left:
            self._parts.appendleft(tuple(left))
        self._begin()


class _Told:
    """What becomes of the tests of this process."""

    def __init__(self) -> None:
        self.reports: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.reports.append(report)


def _run(session: pytest.Session, connection: Connection, number: int, foreign: Sequence[Connection]) -> None:
    """Runs what this process is given, until that is nothing."""
    for each in foreign:  # else nobody would hear that the other end of one has died
        each.close()
    told = _be_another(session.config, number)
    hook, coming = session.config.hook, _each(connection)
    running = next(coming, None)
    while running is not None:
        at, ends_part = running
        following = next(coming, None)
        after = None if following is None else session.items[following[0]]
        hook.pytest_runtest_protocol(item=session.items[at], nextitem=after)
        found = [hook.pytest_report_to_serializable(config=session.config, report=each) for each in told.reports]
        told.reports.clear()
        connection.send(found)
        if ends_part:
            connection.send([])
        running = following
    atexit._run_exitfuncs()  # noqa: SLF001 (which ends servers of ours; what is forked does it for nobody)


def _each(connection: Connection) -> Iterator[tuple[int, bool]]:
    """Yields the numbers of the tests that come, each with whether it is the last one of its part."""
    with suppress(EOFError):  # who hands out has ended
        while numbers := connection.recv():
            yield from ((number, number == numbers[-1]) for number in numbers)


def _be_another(config: pytest.Config, number: int) -> _Told:
    """Makes this process differ from that which it was forked from, in all that tests use."""
    atexit._clear()  # noqa: SLF001 (what was registered there is not for this one to do)
    random.seed()
    # The server that forks runs already, is not this one's child, and ends with all of them.
    server: Any = forkserver._forkserver  # noqa: SLF001 (it would be asked for as a child)
    server.ensure_running = lambda: None
    plugins = config.pluginmanager
    plugins.unregister(name="terminalreporter")
    capturing: Any = plugins.getplugin("capturemanager")
    capturing.stop_global_capturing()  # a file that all of them would write to
    capturing.start_global_capturing()
    capturing.suspend_global_capture()
    folders = _folders(config)
    folders._basetemp = folders.getbasetemp() / f"process-{number}"  # noqa: SLF001 (as xdist has it before it begins)
    folders.getbasetemp().mkdir(mode=0o700)
    told = _Told()
    plugins.register(told)
    return told


def _folders(config: Any) -> pytest.TempPathFactory:
    folders: pytest.TempPathFactory = config._tmp_path_factory  # noqa: SLF001 (its fixture has no request here)
    return folders
