"""On what a model computes, and in which numbers."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from reqall import RerankerError

if TYPE_CHECKING:
    import torch

Dtype: TypeAlias = Literal["auto", "float32", "bfloat16", "float16"]

DEVICE_PATTERN = r"^(auto|cpu|mps|cuda(:\d+)?)$"


def choose_device(wanted: str) -> str:
    """Return what is wanted, or for `auto` the best that is there. Raises RerankerError when it is not there."""
    import torch

    found = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted == "auto":
        return next(device for device, is_there in found.items() if is_there)
    kind, _, number = wanted.partition(":")
    if not found[kind] or (number and int(number) >= torch.cuda.device_count()):
        raise RerankerError(f"this machine has no device {wanted} that PyTorch can use", "Set `device` to auto.")
    return wanted


def choose_dtype(wanted: Dtype, device: str) -> "torch.dtype":
    """Return what is wanted, or for `auto` the smallest in which the device computes well.

    bfloat16 has the range of float32, so nothing overflows, as it may in float16; most processors are slow in both.
    """
    import torch

    if wanted != "auto":
        found: torch.dtype = getattr(torch, wanted)
        return found
    if device.startswith("cuda"):
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return torch.bfloat16 if device == "mps" and _has_bfloat16(device) else torch.float32


def _has_bfloat16(device: str) -> bool:
    import torch

    try:
        torch.ones(1, dtype=torch.bfloat16, device=device) * 2
    except (RuntimeError, TypeError):  # macOS before 14
        return False
    return True
