"""The chat half of the stand-in for OpenAI: what was asked, and an answer in the shape of the API.

As https://platform.openai.com/docs/api-reference/chat describes it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Answering: TypeAlias = Callable[["ChatRequest"], str]
"""What the model answers to a request."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request as it arrived; names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    model: str
    messages: tuple[tuple[str, str], ...]
    parameters: Mapping[str, Any]

    @classmethod
    def of(cls, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> "ChatRequest":
        """Read a body; messages become (role, text), all beside model and messages parameters."""
        messages = tuple((str(each["role"]), str(each["content"])) for each in body["messages"])
        parameters = {name: value for name, value in body.items() if name not in ("model", "messages")}
        return cls(path, headers, str(body.get("model", "")), messages, parameters)

    @property
    def question(self) -> str:
        """The last message."""
        return self.messages[-1][1]


def numbered(request: ChatRequest) -> str:
    """Answer in three numbered lines, each with the question in it."""
    return "\n".join(f"{number}. {request.question} in words of its own {number}" for number in (1, 2, 3))


def completion(request: ChatRequest, content: str | None) -> dict[str, Any]:
    """Return the body of an answer; without content one without choices."""
    message = {"role": "assistant", "content": content, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request.model,
        "choices": [] if content is None else [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
