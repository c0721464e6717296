"""What a function returns with the compiled loops, and without them."""

from spillover import compiled


def without(function, *args, **kwargs):
    """Call a function without the compiled loops."""
    found = compiled._found[:]
    compiled._found[:] = [None]
    try:
        return function(*args, **kwargs)
    finally:
        compiled._found[:] = found


def same(function, *args):
    """Return whether a function returns the same arrays both ways."""
    one, other = (_arrays_of(each) for each in (function(*args), without(function, *args)))
    assert [(name, array.dtype, array.tolist()) for name, array in one] == [
        (name, array.dtype, array.tolist()) for name, array in other
    ]
    return True


def _arrays_of(returned):
    if isinstance(returned, dict):
        return [*returned.items()]
    return [*enumerate(returned if isinstance(returned, tuple) else (returned,))]
