"""`penstock_mediapipe.solution_base` under the name that programs for MediaPipe know."""

from penstock_mediapipe.solution_base import ExtraSettings, PacketDataType, SolutionBase, SolutionOutputs

__all__ = ["ExtraSettings", "PacketDataType", "SolutionBase", "SolutionOutputs"]
