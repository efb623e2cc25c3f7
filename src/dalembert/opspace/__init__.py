"""Dynamics in the space of a task: as it feels the arm, and of several tasks in the order of their priority."""

from ..dynamics.operational_result import OperationalSpace
from ..dynamics.prioritised_result import PrioritisedTask, PrioritisedTasks
from .operational_functions import operational_space
from .prioritised import prioritised_tasks

__all__ = ["OperationalSpace", "PrioritisedTask", "PrioritisedTasks", "operational_space", "prioritised_tasks"]
