"""The host's LLVM: text to object code, object code to callable addresses.

Every program owns one ORC JIT, so that dropping the program frees its code. No pass runs but the inlining of
marked functions and SROA (slots to registers): the text is explicit in vectors and order, and LLVM's default pipeline
keeps memory at every run. llvmlite is imported when the first program is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from accel.backends.llvm.machine.processor import known_processor, last_cache
from accel.backends.llvm.machine.system import has_jit_link, is_x86
from accel.support.forks import FORKS, Once

if TYPE_CHECKING:
    import llvmlite.binding as llvm

HOST_ATTRIBUTES = (
    'attributes #0 = { nounwind "frame-pointer"="all" "prefer-vector-width"="512" "min-legal-vector-width"="512" }'
)
"""Attributes of every function: 512-bit registers where the processor has them, and a register for the frame.

Without that register LLVM cannot align the stack once it finds that registers do not suffice: vectors that it keeps there
would lie across two lines of the cache each.
"""


_ONE_BY_ONE = ",+prefer-no-gather,+prefer-no-scatter"


def _dispose(jit: llvm.LLJIT, tracker: llvm.ResourceTracker) -> None:
    with FORKS.lock:
        # In this order: the tracker belongs to the JIT.
        tracker.close()
        jit.close()


class Host:
    """The processor that this process runs on. One object serves all threads; compiling is one at a time.

    llvmlite has a lock for every call, which would stay locked in a forked child if another thread were in one. So all calls
    are made under `FORKS.lock`. A handler may compile in between: no call leaves anything behind in what programs share.
    """

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._triple = llvm.get_process_triple()
        self._name = llvm.get_host_cpu_name()
        self._features = llvm.get_host_cpu_features()
        self.processor = known_processor(self._name, self._features, last_cache(), x86=is_x86())
        target = llvm.Target.from_triple(self._triple)
        features = self._features.flatten() + (_ONE_BY_ONE if self.processor.slow_gathers else "")
        self._machine, self._quick_machine = (
            target.create_target_machine(
                cpu=self._name,
                features=features,
                opt=level,
                reloc="pic",
                codemodel="jitdefault",
                jit=True,
            )
            for level in (2, 0)
        )
        self._layout = str(self._machine.target_data)
        self._passes = llvm.create_new_module_pass_manager()
        # Marked for inlining: elementary functions (`mathematics.py`), steps of simple states (`records.py`).
        self._passes.add_always_inliner_pass()
        self._passes.add_sroa_pass()
        self._builder = llvm.create_pass_builder(self._machine, llvm.create_pipeline_tuning_options(speed_level=1))

    @property
    def description(self) -> str:
        """LLVM's name of the processor, all that it has, and what it is known to be like."""
        return f"{self._name} {self._features.flatten()} {self.processor}"

    def compile(self, text: str, *, quick: bool = False) -> bytes:
        """Object code of a module's text; `quick`: without optimising. Raises `RuntimeError` for malformed text: a bug."""
        with FORKS.lock, self._module(text) as module:
            if quick:
                return self._quick_machine.emit_object(module)
            self._passes.run(module, self._builder)
            return self._machine.emit_object(module)

    def compile_with_all_passes(self, text: str) -> bytes:
        """Object code of a module's text as LLVM's own pipeline makes it at -O3: its vectoriser decides. For scalar loops."""
        import llvmlite.binding as llvm

        with FORKS.lock, self._module(text) as module:
            tuning = llvm.create_pipeline_tuning_options(speed_level=3)
            tuning.loop_vectorization = tuning.loop_unrolling = tuning.slp_vectorization = True
            builder = llvm.create_pass_builder(self._machine, tuning)
            builder.getModulePassManager().run(module, builder)
            return self._machine.emit_object(module)

    @contextmanager
    def _module(self, text: str) -> Iterator[llvm.ModuleRef]:
        """The module, in a context of its own: constants and types stay in a context for as long as it lives."""
        import llvmlite.binding as llvm

        context = llvm.create_context()
        try:
            module = llvm.parse_assembly(text, context)
            try:
                module.triple = self._triple
                module.data_layout = self._layout
                yield module
            finally:
                module.close()
        finally:
            context.close()

    def load(
        self, objects: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int]
    ) -> tuple[Mapping[str, int], Callable[[], None]]:
        """Object code linked by LLVM: addresses of `exports`, and what frees it. See `loading.py`."""
        import llvmlite.binding as llvm

        with FORKS.lock:
            builder = llvm.JITLibraryBuilder().add_current_process()
            for code in objects:
                builder = builder.add_object_img(code)
            for name, address in imports.items():
                builder = builder.import_symbol(name, address)
            for name in exports:
                builder = builder.export_symbol(name)
            jit = llvm.create_lljit_compiler(self._machine, use_jit_link=has_jit_link())
            tracker = builder.link(jit, "accel")
            return {name: tracker[name] for name in exports}, partial(_dispose, jit, tracker)


host = Once(Host)
"""The host, made on first demand."""


def _cpu_name() -> str:
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name()


cpu_name = Once(_cpu_name)
"""The processor, as LLVM calls it."""
