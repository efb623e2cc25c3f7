"""Imports follow the layers: a module imports from lower numbers only; and so they do inside packages, where an order matters.

Every import counts, inside functions and under TYPE_CHECKING too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.project.source import PACKAGE, imported, modules, name_of

LAYERS = {
    "brief": 0,
    "errors": 0,
    "checks": 0,
    "files": 0,
    "wording": 0,
    "lazy": 0,
    "options": 0,
    "table_files": 0,
    "expr": 1,
    "spatial": 2,
    "model": 3,
    "formats": 4,
    "robots": 4,
    "algorithms": 4,
    "formulations": 5,
    "codegen": 4,
    "dynamics": 6,
    "trajectory": 6,
    "mechanism": 7,
    "bounds": 7,
    "analysis": 7,
    "simulate": 7,
    "transfer": 7,
    "opspace": 7,
    "ellipsoids": 7,
    "linear": 7,
    "kinematics": 7,
    "export": 8,
    "plots": 8,
    "mechanisms": 8,
    "loads": 8,
    "drives": 8,
    "timing": 8,
    "loading": 8,
    "cli": 8,
}
SIBLINGS = {
    ("checks", "errors"),  # a check raises
    ("checks", "wording"),  # both echo what they found
    ("errors", "wording"),
    ("brief", "wording"),
    *(("options", other) for other in ("checks", "errors", "wording")),
    ("trajectory", "dynamics"),  # torques along a motion, joints along a tool path
    *(("table_files", other) for other in ("checks", "errors", "files", "wording")),
    ("linear", "simulate"),  # loads are functions like those that drive a simulation
    ("linear", "transfer"),  # a linear model in other coordinates
    ("kinematics", "analysis"),  # random starts are those of a workspace
    ("analysis", "bounds"),  # properties and reduced models are proved
    ("loading", "mechanisms"),  # `load` takes the name of a catalogue mechanism
    ("cli", "timing"),  # timings are commands
    ("timing", "drives"),  # limits of motors
    ("timing", "loads"),  # drives that share a load
    ("cli", "loading"),
    ("cli", "plots"),  # the demo draws
    ("cli", "export"),  # a command writes code
    ("cli", "drives"),  # voltages and motors are commands
}
BELOW = {  # stricter than the numbers
    "expr": {"errors", "checks"},
    "codegen": {"errors", "checks", "wording", "expr"},
}
OPTIONAL = {
    "llvmlite": {"codegen"},
    "rich": {"cli"},
    "matplotlib": {"cli", "plots"},
    "sympy": {"export"},
    "clarabel": {"loads"},
    "pyarrow": {"table_files"},
    "pandas": {"table_files"},
    "PIL": {"plots"},
    "control": {"linear"},
    "xacrodoc": {"formats"},
    "scipy": set(LAYERS) - {"errors", "checks", "expr", "spatial", "model"},
    "numpy": set(LAYERS),
}
INSIDE = {  # groups of modules, the lowest first; a module imports from its own group and those below
    "expr": (
        ("primitives", "collection_pause"),
        ("graph", "ops"),
        ("program", "interpret", "operation_counts", "counting", "differentiate", "rewrite"),
        ("loops", "loop_passes", "tangent", "assembly"),
        ("__init__",),
    ),
    "spatial": (("vec3", "nested"), ("twists", "transform", "inertia", "ldl", "sparse_lu", "jacobi_axes"), ("__init__",)),
    "model": (
        ("record", "hints", "numbers"),
        ("parts",),
        ("motors", "springs", "combinations", "second_moments", "topology"),
        ("position_functions", "drive_trains"),
        ("closures",),
        ("robot_data", "tree", "idle", "physical"),
        ("robot",),
        ("attach", "dh", "gather", "named_tree", "mechanism_parts"),
        ("__init__",),
    ),
    "algorithms": (
        ("sweep", "joint"),
        ("loop_body", "loop_outputs", "loop_sweep"),
        ("kinematics", "energy", "newton_euler_recursion", "composite_bodies", "influence_coefficients"),
        ("*",),
    ),
    "formulations": (("base", "published_counts"), ("screw_links",), ("screw_*", "newton_euler_base"), ("*",), ("__init__",)),
    "codegen": (("*",), ("kernel", "time_loop"), ("__init__",)),
    "dynamics": (
        ("system", "sizes", "surroundings", "quantity", "task_directions", "operational_result"),
        ("recipes_*", "composed", "derived", "own"),
        ("quantities",),
        ("robot_system", "transferred"),
        ("engine",),
        ("functions", "terms"),
        ("*",),  # what users call
        ("__init__",),
    ),
    "mechanism": (
        ("linear", "torque_sets"),
        ("numeric", "closed_state", "assembly_program", "half_turns"),
        ("assembled", "closed_kernel"),
        ("elements", "assembled_positions", "closure_equations", "joint_motion"),
        ("reactions", "refusals", "second_order"),
        ("recipes", "constraint_count", "finite_motions"),
        ("chart", "limited_motion", "other_joints"),
        ("mechanism", "idle_freedoms"),
        ("mobility_result",),
        ("*",),
        ("__init__",),
    ),
    "opspace": (("task_sentences",), ("task_conditions",), ("operational_functions",), ("prioritised",), ("__init__",)),
    "simulate": (
        ("*",),
        ("integrator",),
        ("dop853", "adams", "rosenbrock", "held_loop"),
        ("sloped_interpolant",),
        ("held_methods",),
        ("run_kernels",),
        ("motion_groups",),
        ("adaptive_run",),
        ("adaptive",),
        ("__init__",),
    ),
    "ellipsoids": (
        ("ellipsoid_recipe", "box_images"),
        ("drive_strength",),
        ("manipulability_functions",),
        ("manipulability_polytopes",),
        ("__init__",),
    ),
    "kinematics": (
        ("pose_residual", "wanted_poses", "search_starts", "screw_angles"),
        ("loop_ranges",),
        ("search_program", "inverse_result", "closed_forms", "self_motion"),
        ("arm_kinds", "second_goals"),
        ("inverse_functions", "branch_functions"),
        ("__init__",),
    ),
    "linear": (
        ("signals", "own_functions", "analytical", "friction_jumps", "modes", "reach", "linear_responses"),
        ("acting_loads", "state_transfer"),
        ("load_slopes", "linear_model"),
        ("state_recipe",),
        ("output_maps",),
        ("linearization", "equilibria"),
        ("__init__",),
    ),
    "bounds": (
        ("intervals", "input_ranges", "bounds_result", "attained", "box_search"),
        ("interval_reading",),
        ("rate_polynomial", "interval_problem"),
        ("coordinate_degrees", "vertex_bound"),
        ("spectrum", "functionals"),
        ("control_points",),
        ("spectral_problem",),
        ("subjects",),
        ("posing",),
        ("bounding",),
        ("__init__",),
    ),
    "loads": (
        ("load_conditions", "sharing_recipe", "admissible_torques", "cone_programmes"),
        ("closure_forces", "carried_sets", "load_options"),
        ("load_problem", "infeasible_loads", "asked_forces"),
        ("sharing",),
        ("load_distribution",),
        ("__init__",),
    ),
    "drives": (
        ("driven_system", "motor_demand", "electrical_laws"),
        ("driven",),
        ("nominal_voltages", "electrical_motion", "motor_linearization", "motor_choice"),
        ("__init__",),
    ),
    "timing": (
        ("cubic_splines", "speed_program", "time_law", "friction_kinds", "loop_joints", "scaling_result", "banded_programme"),
        ("path_torques", "path_shapes"),
        ("path_torque_rates", "path_friction", "path_grid", "limit_rows", "table_program"),
        ("voltage_rows", "drive_motors", "rest_zones"),
        ("excess_program", "shared_drives", "smooth_shape", "smooth_grid", "path_rests"),
        ("fastest_profile", "timing_limits", "smooth_law", "rate_rows"),
        ("smooth_start", "pressing"),
        ("timing_refusals", "rate_limits", "smooth_look", "timing_result", "drive_facets", "gripped_drives"),
        ("smooth_conditions", "scaling_limits"),
        ("smooth_profile",),
        ("smooth_timing",),
        ("fastest", "scaling"),
        ("__init__",),
    ),
    "transfer": (
        ("given",),
        ("products", "ranks"),
        ("coefficients", "coordinate_map"),
        ("models", "state_models"),
        ("redundancy",),
        ("__init__",),
    ),
    "export": (("naming", "symbols"), ("symbolic.*", "symbolic"), ("*",), ("__init__",)),
}
APART = {  # modules that leave others alone though they stand in one group: text of LLVM is written without running any
    "codegen": ("*_ir", ("kernel", "workers", "batches", "gufunc", "time_loop", "machine_code", "disk_cache", "cache_*")),
}
INNER = [module for module in modules() if module.parent != PACKAGE or module.stem in LAYERS]


def package_of(name: str) -> str:
    return name.split(".")[1]


def layer_of(module) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def dotted(module) -> str:
    """The name a module is imported by."""
    parts = ["dalembert", *module.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(module): module for module in modules()}


def imported_modules(module) -> set[str]:
    """The modules of the package that a module imports from, itself left out."""
    found = set()
    for name, _ in imported(module):
        while name.startswith("dalembert") and name not in MODULES:
            name = name.rpartition(".")[0]
        found.add(name)
    return {name for name in found if name.startswith("dalembert")} - {dotted(module)}


def place_in(package: str, module: str) -> str:
    """A module's name inside its package; `__init__` is the package's own."""
    return module.removeprefix(f"dalembert.{package}").removeprefix(".") or "__init__"


def rank(name: str, groups: Iterable[tuple[str, ...]]) -> int:
    """The number of the group a module belongs to: the one that names it, else the first whose pattern fits."""
    named = [number for number, group in enumerate(groups) if name in group]
    fitting = [number for number, group in enumerate(groups) if any(fnmatch(name, pattern) for pattern in group)]
    assert named or fitting, f"{name} belongs to no group"
    return (named or fitting)[0]


def cycle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Modules that import each other in a circle, if there are any."""
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return error.args[1]
    return []


def test_the_import_graph_has_no_cycle():
    assert cycle({name: imported_modules(module) for name, module in MODULES.items()}) == []


def test_a_cycle_is_found():
    assert set(cycle({"a": ["b"], "b": ["c"], "c": ["b"]})) == {"b", "c"}
    assert cycle({"a": ["b", "c"], "b": ["c"]}) == []


@pytest.mark.parametrize("package", INSIDE)
def test_inside_a_package_modules_import_from_lower_groups(package):
    groups = INSIDE[package]
    for name, module in MODULES.items():
        if not f"{name}.".startswith(f"dalembert.{package}."):
            continue
        own = place_in(package, name)
        for other in imported_modules(module):
            if f"{other}.".startswith(f"dalembert.{package}."):
                below = place_in(package, other)
                assert rank(below, groups) <= rank(own, groups), f"{package}: {own} imports {below}, which stands above it"


@pytest.mark.parametrize("package", APART)
def test_some_modules_leave_others_alone(package):
    pattern, others = APART[package]
    for name, module in MODULES.items():
        own = place_in(package, name)
        if name.startswith(f"dalembert.{package}.") and fnmatch(own, pattern):
            found = {place_in(package, other) for other in imported_modules(module)}
            met = {other for other in found if any(fnmatch(other, one) for one in others)}
            assert not met, f"{package}: {own} imports {met}"


def test_a_module_belongs_to_the_group_that_names_it():
    groups = (("*_ir",), ("*",), ("kernel",))
    assert [rank(name, groups) for name in ("loop_ir", "target", "kernel")] == [0, 1, 2]


def test_every_package_has_a_layer():
    found = {layer_of(module) for module in modules()} - {"__init__", "__main__"}
    assert found <= set(LAYERS)


@pytest.mark.parametrize("module", INNER, ids=name_of)
def test_a_module_imports_from_lower_layers_only(module):
    own = layer_of(module)
    for name, line in imported(module):
        if not name.startswith("dalembert"):
            continue
        if own == "cli" and name == "dalembert.__version__":
            continue
        other = package_of(name)
        allowed = other == own or LAYERS[other] < LAYERS[own] or (own, other) in SIBLINGS
        assert allowed, f"{name_of(module)}:{line} imports {name}: layer {LAYERS[own]} from layer {LAYERS[other]}"


@pytest.mark.parametrize("module", [m for m in INNER if layer_of(m) in BELOW], ids=name_of)
def test_the_language_and_the_compiler_know_nothing_of_robots(module):
    own = layer_of(module)
    others = {package_of(name) for name, _ in imported(module) if name.startswith("dalembert")}
    assert others <= BELOW[own] | {own}


@pytest.mark.parametrize("module", modules(), ids=name_of)
def test_third_party_packages_are_imported_only_where_they_belong(module):
    for name, line in imported(module):
        top = name.partition(".")[0]
        if top == "dalembert" or top in sys.stdlib_module_names:
            continue
        assert top in OPTIONAL, f"{name_of(module)}:{line} imports {top}, which is no dependency"
        assert layer_of(module) in OPTIONAL[top], f"{name_of(module)}:{line} imports {top}"
