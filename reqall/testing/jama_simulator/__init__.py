"""A Jama Connect to test against: real HTTP on loopback, with data, edits and faults at hand."""

from reqall.testing.jama_simulator.faults import Failure, Faults
from reqall.testing.jama_simulator.requests_seen import SeenRequest
from reqall.testing.jama_simulator.run import JamaSimulator, serve
from reqall.testing.jama_simulator.tiny import tiny_project
from reqall.testing.jama_simulator.world import World

__all__ = ["Failure", "Faults", "JamaSimulator", "SeenRequest", "World", "serve", "tiny_project"]
