"""The keys and values of a prompt's beginning, computed once and put before every batch."""

from typing import Any


def shared_prefix() -> Any:
    """Make an empty cache that keeps what one run computes; frozen, it lends that to rows of any number.

    The batch's own keys and values are not kept: nothing is generated, so nobody asks for them again.
    """
    import torch
    from transformers import DynamicCache

    class SharedPrefix(DynamicCache):  # type: ignore[misc]  # untyped where transformers is missing
        """Keys and values of one row, shape (1, heads, tokens, size) for each layer."""

        def __init__(self) -> None:
            super().__init__()
            self._kept: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
            self._is_frozen = False

        def freeze(self) -> "SharedPrefix":
            """Keep what is there, and nothing more."""
            self._is_frozen = True
            return self

        def update(
            self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *rest: Any, **options: Any
        ) -> tuple[torch.Tensor, torch.Tensor]:
            """Return the keys and values that a layer attends to."""
            if not self._is_frozen:
                self._kept[layer_idx] = super().update(key_states, value_states, layer_idx, *rest, **options)
                return self._kept[layer_idx]
            keys, values = (kept.expand(len(key_states), -1, -1, -1) for kept in self._kept[layer_idx])
            return torch.cat([keys, key_states], dim=-2), torch.cat([values, value_states], dim=-2)

    return SharedPrefix()
