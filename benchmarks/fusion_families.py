"""Graphs like those of programs, drawn by hand: tiled attention, hydrodynamics, multigrid; chains, diamonds, ladders.

"Like": they have the structure and about the size of the programs of [vB24 Table 2], with arrays of structures as several
arrays, not their text. The programs themselves, as far as they are known, are in `benchmarks/graphs`.
"""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.fusion_drawing import Drawing, Form, How, Item, Read, sizes


class Pencil:
    """A drawing under construction; names and shapes as text, several separated by spaces."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.items: list[Item] = []
        self.results: set[str] = set()

    def add(
        self, name: str, form: Form, shape: str, *, stream: str = "", source: str = "", index: str = "",
        destination: str = "", result: bool = False, forced: bool = False,
    ) -> str:  # fmt: skip
        """One more item; its name."""
        inputs = ((How.STREAM, stream), (How.SOURCE, source), (How.INDEX, index), (How.DESTINATION, destination))
        reads = tuple(Read(array, how) for how, names in inputs for array in dict.fromkeys(names.split()))
        self.items.append(Item(name, form, reads, sizes(shape), forced))
        if result:
            self.results.add(name)
        return name

    def use(self, names: str, shape: str) -> None:
        """Inputs of the program."""
        for name in names.split():
            self.add(name, Form.USE, shape)

    def map(self, name: str, shape: str, stream: str, *, index: str = "", result: bool = False) -> str:
        """Element by element."""
        return self.add(name, Form.MAP, shape, stream=stream, index=index, result=result)

    def broadcast(self, name: str, shape: str, source: str) -> str:
        """A gather whose indices are made by a generate of their own."""
        indices = self.add(f"{name}_at", Form.GENERATE, shape)
        return self.add(name, Form.GATHER, shape, stream=indices, source=source)

    def finish(self, results: Iterable[str] = ()) -> Drawing:
        """The drawing."""
        return Drawing(self.name, tuple(self.items), frozenset({*self.results, *results}))


def attention(blocks: int = 3) -> Drawing:
    """Attention by column blocks, as an unrolled loop: arrays are replicated to one more dimension and folded back."""
    pencil = Pencil("FlashAttn-like")
    pencil.use("q o", "br d")
    pencil.use("m l", "br")
    output, maximum, total = "o", "m", "l"
    for k in range(blocks):
        pencil.use(f"k{k} v{k}", "bc d")
        pencil.broadcast(f"qr{k}", "br bc d", "q")
        pencil.broadcast(f"kr{k}", "br bc d", f"k{k}")
        pencil.map(f"qk{k}", "br bc d", f"qr{k} kr{k}")
        pencil.add(f"s{k}", Form.FOLD, "br bc", stream=f"qk{k}")
        pencil.add(f"row{k}", Form.FOLD, "br", stream=f"s{k}")
        pencil.map(f"m{k}", "br", f"{maximum} row{k}")
        pencil.broadcast(f"mr{k}", "br bc", f"m{k}")
        pencil.map(f"p{k}", "br bc", f"s{k} mr{k}")
        pencil.add(f"sum{k}", Form.FOLD, "br", stream=f"p{k}")
        pencil.map(f"scale{k}", "br", f"{maximum} m{k}")
        pencil.map(f"l{k}", "br", f"{total} scale{k} sum{k}")
        pencil.broadcast(f"pr{k}", "br d bc", f"p{k}")
        pencil.broadcast(f"vr{k}", "br d bc", f"v{k}")
        pencil.map(f"pv{k}", "br d bc", f"pr{k} vr{k}")
        pencil.add(f"o_new{k}", Form.FOLD, "br d", stream=f"pv{k}")
        pencil.broadcast(f"scaler{k}", "br d", f"scale{k}")
        pencil.map(f"o{k}", "br d", f"{output} scaler{k} o_new{k}")
        output, maximum, total = f"o{k}", f"m{k}", f"l{k}"
    pencil.broadcast("lr", "br d", total)
    pencil.map("attention", "br d", f"{output} lr", result=True)
    return pencil.finish((maximum, total))


def hydrodynamics() -> Drawing:
    """One time step on a mesh of elements and nodes: gathers by hand from node to element, scatters back."""
    pencil = Pencil("LULESH-like")
    pencil.use("e p q v ss vol", "elements")
    pencil.use("x y z xd yd zd mass", "nodes")
    element, axes = "elements", "xyz"
    pencil.map("sigma", element, "p q")
    for c in axes:
        pencil.add(f"corner_{c}", Form.GENERATE, element, index=c)
    pencil.map("determinant", element, "corner_x corner_y corner_z")
    for c in axes:
        pencil.map(f"stress_{c}", element, f"sigma corner_{c} determinant")
    pencil.map("derivative", element, "corner_x corner_y corner_z determinant")
    for c in axes:
        pencil.add(f"speed_{c}", Form.GENERATE, element, index=f"{c}d")
    pencil.map("hourglass", element, "determinant ss v vol")
    for c in axes:
        pencil.map(f"resist_{c}", element, f"derivative speed_{c} hourglass")
        pencil.map(f"total_{c}", element, f"stress_{c} resist_{c}")
    for c in axes:
        pencil.add(f"zero_{c}", Form.GENERATE, "nodes")
        pencil.add(f"force_{c}", Form.SCATTER, "nodes", stream=f"total_{c}", destination=f"zero_{c}")
        pencil.map(f"acceleration_{c}", "nodes", f"force_{c} mass")
        pencil.map(f"new_{c}d", "nodes", f"{c}d acceleration_{c}", result=True)
        pencil.map(f"new_{c}", "nodes", f"{c} new_{c}d", result=True)
    for c in axes:
        pencil.add(f"moved_{c}", Form.GENERATE, element, index=f"new_{c}")
    pencil.map("new_v", element, "moved_x moved_y moved_z vol")
    pencil.map("difference", element, "new_v v")
    pencil.map("strain", element, "moved_x moved_y moved_z new_v")
    pencil.map("rate", element, "strain new_v")
    pencil.map("q_linear", element, "difference strain")
    pencil.map("q_square", element, "rate ss q_linear")
    pencil.map("compression", element, "new_v")
    pencil.map("pressure", element, "e compression")
    pencil.map("new_e", element, "e pressure q_square difference", result=True)
    pencil.map("new_ss", element, "new_e pressure compression", result=True)
    pencil.map("new_q", element, "q_square q_linear new_ss", result=True)
    pencil.add("courant", Form.FOLD, "", stream="strain")
    pencil.add("hydro", Form.FOLD, "", stream="new_ss")
    pencil.map("step", "", "courant", index="hydro")
    return pencil.finish()


def multigrid(levels: int = 8) -> Drawing:
    """A V-cycle: every stencil loads by index, so that mostly chains of maps are left between them."""
    pencil = Pencil("Multigrid-like")
    pencil.use("v u", "n0")

    def residual(name: str, shape: str, grid: str, right: str) -> str:
        pencil.add(f"{name}_a", Form.STENCIL, shape, index=grid)
        return pencil.map(name, shape, f"{name}_a {right}")

    rights = [residual("r0", "n0", "u", "v")]
    for k in range(1, levels):
        pencil.add(f"p{k}", Form.STENCIL, f"n{k - 1}", index=rights[-1])
        pencil.broadcast(f"coarse{k}", f"n{k}", f"p{k}")
        rights.append(pencil.map(f"r{k}", f"n{k}", f"coarse{k}"))
    correction = pencil.add("z", Form.STENCIL, f"n{levels - 1}", index=rights[-1])
    for k in range(levels - 2, -1, -1):
        shape = f"n{k}"
        pencil.broadcast(f"fine{k}", shape, correction)
        pencil.add(f"q{k}", Form.STENCIL, shape, index=f"fine{k}")
        start = pencil.map(f"z{k}", shape, f"q{k}")
        if k == 0:
            start = pencil.map("u_new", shape, f"u {start}")
        left = residual(f"left{k}", shape, start, rights[k] if k else "v")
        pencil.add(f"smooth{k}", Form.STENCIL, shape, index=left)
        pencil.map(f"better{k}", shape, f"smooth{k} {start}")
        correction = pencil.map(f"done{k}", shape, f"better{k}")
    final = residual("final", "n0", correction, "v")
    pencil.map("square", "n0", final)
    pencil.add("norm", Form.FOLD, "", stream="square")
    pencil.add("largest", Form.FOLD, "", stream=final)
    return pencil.finish((correction,))


def chain(length: int = 100, period: int = 7) -> Drawing:
    """Maps one after the other, every `period`th of which also loads from five maps before."""
    pencil = Pencil(f"chain{length}")
    pencil.use("u", "n")
    last = "u"
    for k in range(length):
        last = pencil.map(f"c{k}", "n", last, index=f"c{k - 5}" if k % period == period - 1 else "")
    return pencil.finish()


def diamonds(length: int = 100) -> Drawing:
    """Fours of map, map, fold, and a map that needs all three: no loop can do a whole one."""
    pencil = Pencil(f"diamond{length}")
    pencil.use("u", "n")
    last = "u"
    for k in range(length // 4):
        pencil.map(f"a{k}", "n", last)
        pencil.map(f"b{k}", "n", f"a{k}")
        pencil.add(f"f{k}", Form.FOLD, "", stream=f"a{k}")
        last = pencil.map(f"d{k}", "n", f"a{k} b{k}", index=f"f{k}")
    return pencil.finish()


def ladder(length: int = 100) -> Drawing:
    """Two chains of maps that read each other, now as streams, now by index."""
    pencil = Pencil(f"ladder{length}")
    pencil.use("u v", "n")
    left, right = "u", "v"
    for k in range(length // 2):
        one = pencil.map(f"p{k}", "n", f"{left} {right}" if k % 2 else left, index=right if k % 3 == 0 else "")
        two = pencil.map(f"q{k}", "n", right if k % 2 else f"{right} {left}", index=left if k % 5 == 2 else "")
        left, right = one, two
    return pencil.finish()
