"""`penstock_mediapipe.solution_base` under the name that programs for MediaPipe know."""

from penstock_mediapipe.solution_base import PacketDataType as PacketDataType
from penstock_mediapipe.solution_base import SolutionBase as SolutionBase
from penstock_mediapipe.solution_base import SolutionOutputs as SolutionOutputs
