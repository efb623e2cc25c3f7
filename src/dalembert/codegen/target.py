"""The processor kernels are compiled for: its name, features and lane count; and compiling and linking through llvmlite.

llvmlite is imported on first use: `import dalembert` starts no compiler. The compiler must be called under the lock of
machine_code.py.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..errors import CompileError, DalembertWarning
from ..wording import shown

# Characters of a module from which LLVM optimises at level 1. Its time at level 2 is quadratic in the stores of a function, three
# times as long for large programs, and the code is only 1 to 3 % faster (docs/develop/decisions.md).
_LARGE = 1_500_000
BACKENDS = ("llvm", "numpy")
# Part of every module, for those that call another library's functions: the table of their addresses lies in the memory of
# variables, of which llvmlite reserves none for a module without a variable, and then ends the process.
ROOM = """
@room = internal global i64 0
@llvm.used = appending global [1 x ptr] [ptr @room], section "llvm.metadata"
"""


@cache
def binding() -> Any:
    """llvmlite.binding, initialised."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm


def available() -> bool:
    """Whether kernels can be compiled here: llvmlite is installed and not switched off."""
    return _chosen(os.environ.get("DALEMBERT_BACKEND", "")) == "llvm" and _importable()


@cache
def _chosen(name: str) -> str:
    if name not in ("", *BACKENDS):
        known = " and ".join(repr(known) for known in BACKENDS)
        message = f"DALEMBERT_BACKEND: {shown(name)} found, {known} are known; 'llvm' is used."
        warnings.warn(DalembertWarning(message, "backend"), stacklevel=2)
    return "numpy" if name == "numpy" else "llvm"


@cache
def _importable() -> bool:
    try:
        binding()
    except (ImportError, OSError):
        return False
    return True


@dataclass(frozen=True)
class Host:
    """A processor as LLVM names it, and the number of doubles in one of its vector registers."""

    triple: str
    cpu: str
    features: str
    lanes: int
    compiler: str

    @property
    def x86(self) -> bool:
        """Whether it is of the x86 family."""
        return self.triple.startswith(("x86_64", "i386", "i686"))

    @property
    def zen(self) -> bool:
        """Whether it is one of AMD's Zen processors."""
        return self.cpu.startswith("znver")


@cache
def host() -> Host:
    """The processor of this process."""
    llvm = binding()
    features = llvm.get_host_cpu_features()
    import llvmlite

    lanes = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    triple = llvm.get_process_triple()
    return Host(triple, llvm.get_host_cpu_name(), features.flatten(), lanes, f"llvmlite {llvmlite.__version__}")


def compile_object(ir: str) -> bytes:
    """Machine code of a module, as an object file; its constants and types are freed with the context of the module."""
    llvm = binding()
    where = host()
    machine = llvm.Target.from_triple(where.triple).create_target_machine(
        cpu=where.cpu, features=where.features, opt=1 if len(ir) > _LARGE else 2, reloc="pic", codemodel="small"
    )
    context = llvm.create_context()
    try:
        module = llvm.parse_assembly(ir, context=context)
    except RuntimeError as error:
        raise CompileError(f"kernel: LLVM refused the generated code ({error}). Please report this.") from error
    try:
        return bytes(machine.emit_object(module))
    finally:
        module.close()


def engine_of(content: bytes) -> Any:
    """An object file linked into this process, as the engine that owns its memory.

    llvmlite's memory manager places all sections side by side. LLVM's own maps each by itself, and ends the process where two
    come to lie more than 2 GB apart.
    """
    llvm = binding()
    machine = llvm.Target.from_triple(host().triple).create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=True)
    engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    return engine
