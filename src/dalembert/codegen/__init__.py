"""From an expression graph to native code: LLVM, the disk cache, and NumPy generalized ufuncs."""

from .kernel import Kernel, build, portable
from .single_call import refuse
from .workers import thread_count

__all__ = ["Kernel", "build", "portable", "refuse", "thread_count"]
