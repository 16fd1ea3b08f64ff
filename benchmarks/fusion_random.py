"""Random drawings: well-sized programs of all kinds of operations, from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from benchmarks.fusion_drawing import Drawing, Form
from benchmarks.fusion_families import Pencil


@dataclass(frozen=True, slots=True)
class Habits:
    """How a random program is written. Shares of operations; what is left are maps.

    `window`: most operations read one of the last so many arrays. `indexing`: the share of operations that also load by
    index. `results`: the share that are results. `forced`: the share that are stored whatever the planner thinks.
    """

    window: int = 8
    filters: float = 0.08
    gathers: float = 0.12
    scans: float = 0.08
    folds: float = 0.15
    generates: float = 0.08
    scatters: float = 0.05
    indexing: float = 0.12
    results: float = 0.08
    forced: float = 0.02
    weighted: bool = False
    """Extents of constant, very different sizes, so that arrays count very differently in bytes."""


_SHAPES = ("n", "n k", "m", "m k", "n k j")
_WEIGHTED_SHAPES = ("1000", "1000 10", "200", "200 40", "50 20 20")


class _Program:
    """A random program under construction."""

    def __init__(self, name: str, operations: int, seed: int, habits: Habits) -> None:
        self.pencil, self.random, self.habits, self.operations = Pencil(name), Random(seed), habits, operations
        self.readable: list[tuple[str, str]] = []
        """Arrays that may still be read, with their shapes."""

    def draw(self) -> Drawing:
        """The whole program."""
        shapes = _WEIGHTED_SHAPES if self.habits.weighted else _SHAPES
        for k in range(max(1, self.operations // 10)):
            shape = shapes[0] if self.random.random() < 0.5 else self.random.choice(shapes)
            self.pencil.use(f"u{k}", shape)
            self.readable.append((f"u{k}", shape))
        inputs = len(self.pencil.items)
        while len(self.pencil.items) < inputs + self.operations:
            self.operation(f"v{len(self.pencil.items) - inputs}")
        return self.pencil.finish()

    def some(self, shape: str | None = None) -> tuple[str, str]:
        """An array that may be read, mostly a late one; of that shape, of which there is one."""
        fitting = [array for array in self.readable if shape is None or array[1] == shape]
        late = fitting[-self.habits.window :] if self.random.random() < 0.85 else fitting
        return self.random.choice(late)

    def operation(self, name: str) -> None:
        """One more operation, or none where what was drawn cannot be."""
        random, habits = self.random, self.habits
        result, forced = random.random() < habits.results, random.random() < habits.forced
        index = self.some()[0] if random.random() < habits.indexing else ""
        array, shape = self.some()
        form = self.form()
        if not shape and form in (Form.FILTER, Form.LEFT_SCAN, Form.RIGHT_SCAN, Form.FOLD):
            form = Form.MAP
        stream, source, destination, made = array, "", "", shape
        match form:
            case Form.FILTER:
                made = f"found_by_{name}"
            case Form.GATHER:
                source = self.some()[0]
                index = ""
            case Form.FOLD:
                made = " ".join(shape.split()[:-1])
            case Form.GENERATE:
                stream = ""
            case Form.SCATTER:
                targets = [t for t in self.readable if not t[0].startswith("u") and t[0] not in self.pencil.results]
                if not targets:
                    return
                destination, made = random.choice(targets)
                index = ""
            case _:
                others = [self.some(shape)[0] for _ in range(random.choice((0, 0, 1, 1, 2)))]
                stream = " ".join([array, *others]) if form is Form.MAP else array
        if source == array or destination == array or index in stream.split():
            return
        self.pencil.add(name, form, made, stream=stream, source=source, index=index, destination=destination,
                        result=result, forced=forced)  # fmt: skip
        self.readable = [other for other in self.readable if other[0] != destination]
        self.readable.append((name, made))

    def form(self) -> Form:
        """What the next operation is."""
        habits, random = self.habits, self.random
        scan = random.choice((Form.LEFT_SCAN, Form.LEFT_SCAN, Form.RIGHT_SCAN))
        shares = (
            (Form.FILTER, habits.filters), (Form.GATHER, habits.gathers), (scan, habits.scans), (Form.FOLD, habits.folds),
            (Form.GENERATE, habits.generates), (Form.SCATTER, habits.scatters),
        )  # fmt: skip
        drawn = random.random()
        for form, share in shares:
            if drawn < share:
                return form
            drawn -= share
        return Form.MAP


def random_drawing(operations: int, seed: int, habits: Habits | None = None, name: str = "") -> Drawing:
    """A random program of that many operations."""
    return _Program(name or f"rand{operations}", operations, seed, habits or Habits()).draw()


def gathering() -> Drawing:
    """100 operations, a quarter of them gathers."""
    return random_drawing(100, 777, Habits(gathers=0.25, indexing=0.06), "rand100b")


def weighted() -> Drawing:
    """100 operations over arrays of very different sizes."""
    return random_drawing(100, 778, Habits(weighted=True), "rand100w")


def fanning() -> Drawing:
    """100 operations that mostly read the last three arrays, few of them results."""
    return random_drawing(100, 779, Habits(window=3, results=0.02), "rand100fan")


def stress(operations: int, seed: int) -> Drawing:
    """Out to be hard: edges reach far back, few arrays are results, one part holds nearly the whole program."""
    random = Random(seed)
    habits = Habits(
        window=random.choice((3, 8, 20)),
        gathers=random.choice((0.05, 0.12, 0.25)),
        indexing=random.choice((0.02, 0.06, 0.12)),
        results=random.choice((0.02, 0.08)),
        folds=random.choice((0.05, 0.15)),
        weighted=random.random() < 0.5,
    )
    return random_drawing(operations, seed, habits, f"stress{operations}.{seed}")
