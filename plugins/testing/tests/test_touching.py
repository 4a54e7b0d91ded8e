"""What code touches is noticed through Python's audit events."""

from __future__ import annotations

import subprocess
import sys
import threading

from penstock_testing.touching import touched

#: A fresh process, which has not looked yet where temporary files are.
FRESH = """
import sys, tempfile
from penstock_testing.touching import touched
with touched() as found:
    open(sys.argv[1]).close()
    tempfile.gettempdir()
print(found == [("reads", sys.argv[1])], found)
"""


def test_the_first_look_for_temporary_files_neither_hangs_nor_counts(tmp_path):
    file = tmp_path / "read"
    file.write_text("x")
    done = subprocess.run(
        [sys.executable, "-c", FRESH, str(file)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.startswith("True"), done.stdout + done.stderr


def test_any_thread_is_noticed_and_nothing_afterwards(tmp_path):
    file = tmp_path / "written"
    with touched() as found, touched() as also:
        thread = threading.Thread(target=file.write_text, args=("x",))
        thread.start()
        thread.join(30)
    file.read_text()
    assert found == also == [("writes", str(file))]


def test_what_python_reads_for_itself_does_not_count():
    with touched() as found:
        open(threading.__file__).close()  # noqa: PTH123  # as modules are read
        open("/proc/self/status").close()  # noqa: PTH123
    assert found == []
