"""Algorithms of rigid-body dynamics, each written once over scalars of any kind."""
