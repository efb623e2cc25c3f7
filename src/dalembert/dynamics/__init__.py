"""The dynamics of a system: what users call. Each module lists its public names itself."""

from .applied_loads_functions import *
from .compile import *
from .contributions import *
from .functions import *
from .influence_functions import *
from .inside import *
from .kinematics_functions import *
from .progressive import *
from .quantities import NAMES as NAMES
from .recursion_table import *
from .structure import *
from .terms import *
from .third_order import *
