"""What does a person read when an input cannot be used?"""

from __future__ import annotations

from typing import Any


class InputError(ValueError):
    """An input that cannot be used, said as one sentence in any language.

    Parameters
    ----------
    template
        The English sentence with `str.format` fields; it is the key of the message catalogue.
    **values
        What fills the fields: the field's name, what is allowed, what came.
    """

    def __init__(self, template: str, /, **values: Any) -> None:
        super().__init__(template.format(**values))
        self.template = template
        self.values = values

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross process borders, from the compute worker to the web process.
        return _rebuild, (self.template, self.values)


def _rebuild(template: str, values: dict[str, Any]) -> InputError:
    return InputError(template, **values)
