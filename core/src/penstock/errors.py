"""Every error that Penstock raises is a `PenstockError`, with a status code and the place as fields.

Each error is a builtin exception as well: a `ValueError` if its code is INVALID_ARGUMENT, a `LookupError`
if it is NOT_FOUND, a `RuntimeError` otherwise. The code decides, not the class, so that a run which failed
because of a bad value can be caught as a `ValueError`. The codes have the names and numbers of MediaPipe's
status codes (google.rpc.Code).
"""
# There is one class for each decision that a caller could take.

from __future__ import annotations

import enum
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Self

from penstock.shown import printable, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


#: Characters of a message; a fault that a graph file makes longer is cut. `_TAIL`: of its end, with the cure.
_LONGEST: Final = 20_000
_TAIL: Final = 1_000


class StatusCode(enum.IntEnum):
    """What kind of failure an error is. Source: google/rpc/code.proto."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


#: Where code is that the user has not written: the standard library, and what is installed.
_LIBRARY: Final = (enum.__file__.removesuffix("enum.py"), "<frozen")
_INSTALLED: Final = ("site-packages", "dist-packages")

_BUILTIN: dict[StatusCode, type[Exception]] = {
    StatusCode.INVALID_ARGUMENT: ValueError,
    StatusCode.NOT_FOUND: LookupError,
}

#: Which code an exception of user code gets that is no `PenstockError`; the first match counts.
_CODE_OF: tuple[tuple[type[BaseException], StatusCode], ...] = (
    (FileNotFoundError, StatusCode.NOT_FOUND),
    (FileExistsError, StatusCode.ALREADY_EXISTS),
    (PermissionError, StatusCode.PERMISSION_DENIED),
    (TimeoutError, StatusCode.DEADLINE_EXCEEDED),
    (NotImplementedError, StatusCode.UNIMPLEMENTED),
    (MemoryError, StatusCode.RESOURCE_EXHAUSTED),
    (LookupError, StatusCode.NOT_FOUND),
    (ValueError, StatusCode.INVALID_ARGUMENT),
    (TypeError, StatusCode.INVALID_ARGUMENT),
)


def code_of(error: BaseException) -> StatusCode:
    """Return the status code that stands for `error`: its own, or that of its builtin kind."""
    if isinstance(error, PenstockError):
        return field_of(error, "code", StatusCode) or StatusCode.UNKNOWN
    for kind, code in _CODE_OF:
        if isinstance(error, kind):
            return code
    return StatusCode.UNKNOWN


def field_of(error: BaseException, name: str, kind: type) -> Any:
    """Return a field of an exception, or None if it is not of this type; runs no code of users' classes."""
    value = object.__getattribute__(error, "__dict__").get(name)
    return value if type(value) is kind else None


class PenstockError(Exception):
    """The base class of all errors. Its fields say as data what its message says in words."""

    default_code = StatusCode.UNKNOWN
    #: Whether the message repeats other errors, each of which is short enough.
    _lists_others = False

    #: The status code; see `StatusCode`.
    code: StatusCode
    #: Name of the node concerned, or None.
    node: str | None
    #: Name of the stream or side packet concerned, or None.
    stream: str | None
    #: The timestamp concerned as a plain int, or None.
    timestamp: int | None
    #: `file`, `line`, `column`: the place in a graph file, counted from 1, of a fault of a graph; else None.
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __new__(cls, *args: Any, **fields: Any) -> Self:
        """Make an error of this class that is also the builtin which its code stands for."""
        code = fields.get("code")
        builtin = _BUILTIN.get(cls._code(args) if code is None else code, RuntimeError)
        kind = cls if issubclass(cls, builtin) else _variant(cls, builtin)
        made: Self = super().__new__(kind, *args)
        return made

    def __init__(
        self,
        message: str,
        *,
        code: StatusCode | None = None,
        node: str | None = None,
        stream: str | None = None,
        timestamp: int | None = None,
    ) -> None:
        text = printable(message)
        super().__init__(text if self._lists_others else _cut(text))
        self.code = code if code is not None else type(self).default_code
        self.node = node
        self.stream = stream
        self.timestamp = None if timestamp is None else int(timestamp)

    @classmethod
    def _code(cls, args: tuple[Any, ...]) -> StatusCode:  # noqa: ARG003  # for classes that override it
        """Return the code of an error made from these arguments where it is not given by name."""
        return cls.default_code

    def placed(self, where: str) -> PenstockError:
        """Return a copy of the error whose message begins with a place."""
        rebuild, (family, _, state) = self.__reduce__()
        copy: PenstockError = rebuild(family, (printable(f"{where}{self}"),), state)
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        family = type(self).__dict__.get("_family", type(self))
        return _rebuild, (family, self.args, dict(self.__dict__))


def _cut(message: str) -> str:
    """Return a message, without its middle if it is longer than anybody reads."""
    if len(message) <= _LONGEST:
        return message
    left_out = len(message) - _LONGEST
    return f"{message[: _LONGEST - _TAIL]}… ({left_out} characters are left out) …{message[-_TAIL:]}"


_VARIANTS: dict[tuple[type, type], Any] = {}


def _variant(cls: type[PenstockError], builtin: type[Exception]) -> Any:
    """Return `cls` that is also `builtin`, under the same name."""
    made = _VARIANTS.get((cls, builtin))
    if made is None:
        fields = {"__module__": cls.__module__, "__doc__": cls.__doc__, "__qualname__": cls.__qualname__}
        made = type(cls.__name__, (cls, builtin), {**fields, "_family": cls})
        _VARIANTS[cls, builtin] = made
    return made


def _rebuild(family: type[PenstockError], args: tuple[Any, ...], state: dict[str, Any]) -> PenstockError:
    builtin = _BUILTIN.get(state["code"], RuntimeError)
    kind: type[PenstockError] = family if issubclass(family, builtin) else _variant(family, builtin)
    error = Exception.__new__(kind, *args)
    error.__dict__.update(state)
    error.args = args
    return error


# --- mistakes of the caller ------------------------------------------------------------------


class InvalidArgumentError(PenstockError):
    """A value that can never be right here. Nothing has changed."""

    default_code = StatusCode.INVALID_ARGUMENT


class OptionError(InvalidArgumentError):
    """What a graph gives as options is not what their class takes."""

    def __init__(self, options: str, path: tuple[tuple[str, int], ...], words: str) -> None:
        super().__init__(f"options {options}: {words}")
        #: Full name of the class.
        self.options = options
        #: To the field, as (name, index) for each step; () for the options as a whole.
        self.path = path
        #: What else is wrong with the same options.
        self.further: tuple[OptionError, ...] = ()


class NotFoundError(PenstockError):
    """A name that does not exist here."""

    default_code = StatusCode.NOT_FOUND


class FailedPreconditionError(PenstockError):
    """A call that is right, but not in this state. Nothing has changed."""

    default_code = StatusCode.FAILED_PRECONDITION


class AlreadyExistsError(PenstockError):
    """Something that may be given once was given twice."""

    default_code = StatusCode.ALREADY_EXISTS


class PermissionDeniedError(PenstockError):
    """A graph touches what the application does not allow; see `penstock.access`."""

    default_code = StatusCode.PERMISSION_DENIED


class UnavailableError(PenstockError):
    """Not possible now: the graph is throttled, or a value does not exist yet. Trying again may help."""

    default_code = StatusCode.UNAVAILABLE


class WaitTimeoutError(PenstockError):
    """A wait's time-out expired. The graph goes on as if nobody had waited."""

    default_code = StatusCode.DEADLINE_EXCEEDED


class ResourceExhaustedError(PenstockError):
    """A graph asks for more than a limit allows, or the queues of a run hold more bytes than allowed."""

    default_code = StatusCode.RESOURCE_EXHAUSTED
    #: Name of the limit, a field of `penstock.limits.Limits`; None where it is another one.
    limit: str | None = None


class TimestampError(InvalidArgumentError):
    """A timestamp that is not allowed where it was put, or arithmetic that leaves the range."""


class TimestampOrderError(TimestampError):
    """A packet or bound behind the bound of its stream."""


class PacketTypeError(InvalidArgumentError):
    """A payload whose type is not the one that was declared."""


class StreamClosedError(FailedPreconditionError):
    """Something was written to a stream that is closed."""


class InternalError(PenstockError):
    """Something that must hold does not: a mistake in Penstock itself. Please report it with its traceback.

    Calculators that MediaPipe has raise it where its own check (`RET_CHECK`) fails with this code: for ports
    that do not go together, say.
    """

    default_code = StatusCode.INTERNAL


# --- a graph that cannot be loaded ------------------------------------------------------------


class GraphParseError(InvalidArgumentError):
    """A graph file that is not a graph: where it stops making sense, and why."""

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message)
        #: The file's name, or None for text given as a string.
        self.file = file
        #: Line of the fault, counted from 1, or None where the format has none.
        self.line = line
        #: Column of the fault, counted from 1, or None.
        self.column = column


class GraphConfigError(PenstockError):
    """A graph that parses but cannot run. Carries every fault at once, in file order."""

    _lists_others = True

    @classmethod
    def _code(cls, args: tuple[Any, ...]) -> StatusCode:
        return common_code(args[0])

    def __init__(self, faults: Collection[PenstockError], *, file: str | None = None, most: int = 20) -> None:
        #: One error for each fault, at most 1,000; the message lists the first ones. Their common code is
        #: this error's code, else UNKNOWN.
        self.faults = tuple(faults)
        where = f"{file}: " if file else ""
        head = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        lines, notes = lines_of(self.faults, most)
        listed = "".join(f"\n  {line}" for line in (*lines, *notes))
        super().__init__(f"{where}the graph cannot run, {head}:{listed}", code=common_code(self.faults))
        self.file = file


#: Kind of names → how the application can provide one itself.
_OWN: Final = {
    "calculator": ", or decorate your own with @penstock.register_calculator",
    "subgraph": ", or pass your own in subgraphs={...}",
}
#: How an error goes on that names the plugins which are not loaded.
_NOT_LOADED: Final = "; plugins that are not loaded: "


def lines_of(faults: Collection[object], most: int) -> tuple[list[str], list[str]]:
    """Return the messages of the first faults, and which plugins are not loaded, which is thus said once."""
    parts = [str(fault).partition(_NOT_LOADED) for fault in islice(faults, most)]
    notes = dict.fromkeys(f"{said[2:]}{plugins}" for _, said, plugins in parts if said)
    more = [f"and {len(faults) - most} more"] if len(faults) > most else []
    return [line for line, _, _ in parts] + more, list(notes)


def not_loaded(failures: Mapping[str, str]) -> str:
    """Return how an error goes on after some plugins failed: plugin → reason, each reason once; or ""."""
    reasons: dict[str, list[str]] = {}
    for plugin, why in sorted(failures.items()):
        reasons.setdefault(why, []).append(plugin)
    listed = ", ".join(f"{', '.join(plugins)} ({why})" for why, plugins in reasons.items())
    return f"{_NOT_LOADED}{listed}" if listed else ""


class UnknownNameError(NotFoundError):
    """A graph names something that no loaded plugin provides."""

    def __init__(  # each is a field of the message
        self,
        kind: str,
        name: str,
        known: Collection[str] = (),
        failed: Mapping[str, str] | None = None,
        *,
        install: str | None = None,
    ) -> None:
        from penstock.near_names import near_names  # only where something is wrong

        #: What was looked for: "calculator", "input stream handler", "executor", ...
        self.kind = kind
        #: The name that was not found.
        self.name = name
        #: Known names that look like it, best first.
        self.near = tuple(near_names(name, known))
        #: The distribution to install, where an official pack has the name.
        self.install = install
        message = f"no {kind} {quoted(name)} is registered"
        if install:
            message += f"; install it: pip install {install}"
        elif self.near:
            message += f" (did you mean {', '.join(map(repr, self.near))}?)"
        elif not failed:
            message += f"; install the pack that has it{_OWN.get(kind, '')}"
        super().__init__(message + not_loaded(failed or {}))


class NameClashError(AlreadyExistsError):
    """Two distributions claim one name; raised when that name is used."""


class PluginError(PenstockError):
    """A plugin that is installed but cannot be used: what it provides failed to import."""


# --- a run that went wrong --------------------------------------------------------------------


class CalculatorError(PenstockError):
    """A calculator's method failed. The original exception is the `__cause__`.

    The message says where in the user's code it was raised, and which inputs were empty.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # what is known of the call
        self,
        node: str,
        calculator: str,
        method: str,
        cause: BaseException,
        timestamp: int | None = None,
        words: str = "",
    ) -> None:
        at = "" if timestamp is None else f" at {timestamp}"
        super().__init__(
            f"node {node!r} ({calculator}): {method}() failed{at}: {words or words_of(cause)}",
            code=code_of(cause),
            node=node,
            stream=field_of(cause, "stream", str) if isinstance(cause, PenstockError) else None,
            timestamp=timestamp,
        )
        #: "open", "process" or "close".
        self.method = method
        #: The registered name of the calculator.
        self.calculator = calculator
        self.__cause__ = cause

    @classmethod
    def _code(cls, args: tuple[Any, ...]) -> StatusCode:
        return code_of(args[3])


def words_of(error: BaseException) -> str:
    """Return what an exception of user code says and where it was raised: "KeyError: 1 (at a.py:4 in f)"."""
    kind = "" if isinstance(error, PenstockError) else f"{type(error).__name__}: "
    return f"{kind}{text_of(error)}{_raised_at(error)}"


def text_of(error: BaseException) -> str:
    """Return `str(error)`, or why there is none. It runs user code, so it is called without the lock."""
    try:
        return str.__str__(str(error))  # an exact str: a subclass could have a `__format__` of its own
    except KeyboardInterrupt:
        raise
    except BaseException as unreadable:  # noqa: BLE001  # it is user code
        return f"no text, since its __str__ raised {type(unreadable).__name__}"


def traceback_of(error: BaseException) -> str:
    """Return the traceback of an exception as Python prints it, or why there is none. It runs user code."""
    import traceback  # where something fails only

    try:
        return "".join(traceback.format_exception(error))
    except KeyboardInterrupt:
        raise
    except BaseException as unreadable:  # noqa: BLE001  # notes, causes and texts are user code
        return f"no traceback, since to read it raised {type(unreadable).__name__}"


def _raised_at(error: BaseException) -> str:
    """Return where the user's code raised an exception, as " (at gate.py:41 in process)", or "".

    The user's code is what is neither ours nor installed. Without it the package counts that the framework
    has called, unless that raised an error of ours, which needs no reading of code.
    """
    own = installed = called = ""
    line = error.__traceback__
    while line is not None:
        code, package = line.tb_frame.f_code, str(line.tb_frame.f_globals.get("__name__")).partition(".")[0]
        is_installed = any(name in code.co_filename for name in _INSTALLED)
        if package != "penstock" and (is_installed or not code.co_filename.startswith(_LIBRARY)):
            file = code.co_filename.replace("\\", "/").rpartition("/")[2]
            place = f" (at {file}:{line.tb_lineno} in {code.co_name})"
            called = called or package
            if package == called:
                installed = place
            if not is_installed and not package.startswith("penstock_"):
                own = place
        line = line.tb_next
    return own or ("" if isinstance(error, PenstockError) else installed)


class ObserverError(PenstockError):
    """An observer raised. The original exception is the `__cause__`."""

    def __init__(self, stream: str, cause: BaseException, timestamp: int | None = None) -> None:
        super().__init__(
            f"observer of stream {stream!r} failed: {type(cause).__name__}: {text_of(cause)}",
            code=code_of(cause),
            stream=stream,
            timestamp=timestamp,
        )
        self.__cause__ = cause

    @classmethod
    def _code(cls, args: tuple[Any, ...]) -> StatusCode:
        return code_of(args[1])


class GraphRunError(PenstockError):
    """A run ended badly. Several errors of one run come together; none is lost."""

    _lists_others = True

    @classmethod
    def _code(cls, args: tuple[Any, ...]) -> StatusCode:
        return common_code(args[0])

    def __init__(self, errors: Collection[BaseException]) -> None:
        #: In the order in which they happened; the first is the cause. Their common code is this error's
        #: code, else UNKNOWN. A cancelled run has CANCELLED.
        self.errors = tuple(errors)
        first = self.errors[0]
        message = "the graph run failed: " + "\n  ".join(str(error) for error in self.errors)
        super().__init__(
            message,
            code=common_code(self.errors),
            node=getattr(first, "node", None),
            stream=getattr(first, "stream", None),
            timestamp=getattr(first, "timestamp", None),
        )
        self.__cause__ = first


class CancelledError(PenstockError):
    """The run was cancelled."""

    default_code = StatusCode.CANCELLED


def common_code(errors: Iterable[BaseException]) -> StatusCode:
    """Return the code that all `errors` share, or UNKNOWN where they differ or there are none."""
    codes = {code_of(error) for error in errors}
    return codes.pop() if len(codes) == 1 else StatusCode.UNKNOWN
