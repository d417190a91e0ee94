"""Configurations: how values are bound to a signature, and what the core gets of them."""

import dataclasses
import decimal
import enum
import fractions
import functools
import pathlib

import numpy as np
import pytest

from warpmeter._configs import Parameters, bind, core_configs, name_of, text_of
from warpmeter.exceptions import ProfilerException


def one(n):
    pass


def two(a, b):
    pass


def defaults(a, b=2, c=3):
    pass


def keyword_only(a, *, b, c=3):
    pass


def variadic(a, *rest, b=2, **more):
    pass


def nothing():
    pass


def bound(function, *args, configs=None, decorated=None):
    return bind(Parameters.of(function), args, configs, decorated)


def called(function, values):
    return Parameters.of(function).arguments(values)


# ---- where they come from ----


@pytest.mark.parametrize(
    "how",
    [
        {"configs": [(1, 2)]},
        {"decorated": [(1, 2)]},
        {"configs": iter([[1, 2]])},
        {"configs": (c for c in [(1, 2)])},
        {"configs": {(1, 2)}},
        {"configs": np.array([[1, 2]])},
        {"configs": [np.array([1, 2])]},
        {"configs": [range(1, 3)]},
        {"configs": ({1: "a", 2: "b"},)},
    ],
)
def test_they_come_from_the_call_or_from_the_decorator(how):
    assert bound(two, **how) == [(1, 2)]


def test_arguments_of_the_call_are_one_configuration():
    assert bound(two, [1], "x") == [([1], "x")]


@pytest.mark.parametrize(
    ("args", "at_call", "at_decoration"),
    [((), [1], [2]), ((1,), [1], None), ((1,), None, [1]), ((1,), [1], [1]), ((), [], [])],
)
def test_two_places_are_refused(args, at_call, at_decoration):
    with pytest.raises(ProfilerException, match="given twice"):
        bound(one, *args, configs=at_call, decorated=at_decoration)


def test_none_are_refused_where_a_value_is_needed():
    with pytest.raises(ProfilerException, match="no configurations for a, b"):
        bound(two)


def test_none_are_needed_without_required_parameters():
    assert bound(nothing) == [()]
    assert bound(lambda a=5, *, b=6: None) == [(5, 6)]


@pytest.mark.parametrize("empty", [[], (), iter([]), np.array([])])
def test_an_empty_list_is_refused(empty):
    with pytest.raises(ProfilerException, match="configs is empty"):
        bound(one, configs=empty)


@pytest.mark.parametrize("configs", [5, "abc", b"abc", 1.5, object()])
def test_what_is_no_list_is_refused(configs):
    with pytest.raises(ProfilerException, match="an iterable of configurations"):
        bound(one, configs=configs)


# ---- how many values ----


@pytest.mark.parametrize(
    ("function", "configs", "said"),
    [
        (two, [(1, 2), (1,)], "different numbers of values: 2, 1"),
        (defaults, [(1,), (1, 2)], "different numbers of values: 1, 2"),
        (two, [(1, 2, 3)], "3 values, but the function takes 2 (a, b)"),
        (two, [(1,)], "1 values, but the function takes 2 (a, b)"),
        (two, [()], "0 values"),
        (defaults, [(1, 2, 3, 4)], "4 values, but the function takes between 1 and 3"),
        (nothing, [(1,)], "1 values, but the function takes 0"),
        (variadic, [(1, 2, 3)], "3 values, but the function takes between 1 and 2"),
        (one, [[1, 2]], "2 values"),
        (two, ["ab"], "1 values"),
    ],
)
def test_wrong_counts_are_refused(function, configs, said):
    with pytest.raises(ProfilerException) as error:
        bound(function, configs=configs)
    assert said in str(error.value)


def test_of_many_different_counts_some_are_shown():
    with pytest.raises(ProfilerException, match=r"(1, 2, ){10}\.\.\.$"):
        bound(two, configs=[(1,), (1, 2)] * 1000)


@pytest.mark.parametrize(
    "value",
    ["text", b"bytes", 7, None, 1.5, {"a": 1}, {1, 2}, object(), np.float32(2), np.array(3), len],
)
def test_a_scalar_is_the_value_of_the_only_parameter(value):
    ((got,),) = bound(one, configs=[value])
    assert got is value


def test_a_scalar_is_the_first_value_where_others_have_defaults():
    assert bound(defaults, configs=[7, "xy"]) == [(7, 2, 3), ("xy", 2, 3)]


def test_a_sequence_holds_the_values_also_of_the_only_parameter():
    assert bound(one, configs=[(1,), ["x"], [[1, 2]]]) == [(1,), ("x",), ([1, 2],)]


def test_an_array_is_one_value_of_the_only_parameter():
    array = np.arange(3)
    ((got,),) = bound(one, configs=[array])
    assert got is array


# ---- binding ----


def test_defaults_fill_what_is_missing():
    assert bound(defaults, configs=[(1,)]) == [(1, 2, 3)]
    assert bound(defaults, configs=[(1, 9)]) == [(1, 9, 3)]
    assert bound(keyword_only, configs=[(1, 9)]) == [(1, 9, 3)]


def test_keyword_only_parameters_are_bound_in_order():
    assert called(keyword_only, (1, 9, 8)) == ((1,), {"b": 9, "c": 8})


def test_a_keyword_only_parameter_with_a_default_may_stand_before_one_without():
    def function(a, *, b=2, c):
        pass

    assert bound(function, configs=[(1, 5, 6)]) == [(1, 5, 6)]
    with pytest.raises(ProfilerException, match="takes 3"):
        bound(function, configs=[(1, 5)])


def test_variadic_parameters_stay_empty():
    assert Parameters.of(variadic).names == ("a", "b")
    assert called(variadic, (1, 7)) == ((1,), {"b": 7})


def test_positional_only_parameters_are_bound():
    def function(a, /, b):
        pass

    assert called(function, (1, 2)) == ((1, 2), {})


def test_a_partial_function_gives_up_what_it_has():
    assert bound(functools.partial(two, b=5), configs=[1]) == [(1, 5)]
    assert called(functools.partial(two, b=5), (1, 6)) == ((1,), {"b": 6})
    assert Parameters.of(functools.partial(two, 1)).names == ("b",)


def test_a_bound_method_has_no_self():
    class Thing:
        def method(self, n):
            pass

    assert Parameters.of(Thing().method).names == ("n",)
    assert Parameters.of(Thing.method).names == ("self", "n")


def test_names_of_functions():
    class Callable:
        def __call__(self):
            pass

    twice = functools.partial(functools.partial(two, 1), 2)
    named = functools.partial(two, 1)
    named.__name__ = "mine"
    assert [name_of(f) for f in (two, len, twice, named, Callable(), lambda: 0)] == [
        "two",
        "len",
        "two",
        "mine",
        "Callable",
        "<lambda>",
    ]


# ---- what the core gets ----


def given(*values):
    """What the core gets for configurations of one value."""
    return [row for _, row in core_configs(["n"], [(v,) for v in values])]


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    HIGH = 3


class Kind(enum.StrEnum):
    FAST = "fast"


@pytest.mark.parametrize(
    ("value", "native"),
    [
        (True, True),
        (3, 3),
        (-(2**63), -(2**63)),
        (2**63 - 1, 2**63 - 1),
        (1.5, 1.5),
        ("text", "text"),
        ("", ""),
        (np.int8(3), 3),
        (np.uint64(2**63), str(2**63)),
        (np.float32(0.5), 0.5),
        (np.float64(0.1), 0.1),
        (np.bool_(False), False),
        (np.str_("s"), "s"),
        (np.array(4), 4),
        (Level.HIGH, 3),
        (Kind.FAST, "fast"),
    ],
)
def test_numbers_and_texts_stay(value, native):
    ((got,),) = given(value)
    assert (type(got), got) == (type(native), native)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (2**63, str(2**63)),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (np.float32("inf"), "inf"),
        (2j, "2j"),
        (decimal.Decimal("1.50"), "1.50"),
        (fractions.Fraction(1, 3), "1/3"),
        (b"ab", "b'ab'"),
        (Color.RED, "Color.RED"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        ((1, "a"), "(1, 'a')"),
        ([1, [2]], "[1, [2]]"),
        ({"k": 1}, "{'k': 1}"),
        ({"b", "a", "c"}, "{'a', 'b', 'c'}"),
        (frozenset({2, 1}), "frozenset({1, 2})"),
        (int, "int"),
        (len, "len"),
        (two, "two"),
        (np.zeros((2, 3), np.float32), "ndarray(2x3, float32)"),
        (np.dtype("int16"), "int16"),
        ("a\0b", "a\\0b"),
        ("\ud800", "\\ud800"),
    ],
)
def test_all_else_becomes_a_text(value, text):
    assert given(value) == [[text]]


@pytest.mark.parametrize("value", [object(), [object()], {"k": lambda: 0}])
def test_texts_hold_no_addresses(value):
    assert "0x" not in text_of(value, 7)


class Broken:
    def __str__(self):
        raise RuntimeError("no text")


class NoNumber:
    def __index__(self):
        raise ZeroDivisionError

    def __str__(self):
        return "no number"


def test_what_fails_to_be_a_number_is_a_text():
    assert given(NoNumber()) == [["no number"]]


@dataclasses.dataclass
class Long:
    text: str


def test_what_has_no_short_text_is_called_by_its_type_and_number():
    assert given(0, object(), Broken(), Long("x" * 200), Long("a\nb"), Long("ok")) == [
        [0],
        ["object:1"],
        ["Broken:2"],
        ["Long:3"],
        ["Long(text='a\\nb')"],
        ["Long(text='ok')"],
    ]


def test_equal_texts_get_numbers():
    assert given("a", "a", "b", "a") == [["a"], ["a#2"], ["b"], ["a#3"]]


def test_a_number_that_is_there_already_is_passed_over():
    rows = given("a", "a#2", "a", "a#2")
    assert len({row[0] for row in rows}) == 4
    assert rows[:2] == [["a"], ["a#2"]]


def test_equal_numbers_get_a_parameter_more():
    assert list(core_configs(["n"], [(1,), (1,), (2,), (1,)])) == [
        (["n", "repeat"], [1, 0]),
        (["n", "repeat"], [1, 1]),
        (["n", "repeat"], [2, 0]),
        (["n", "repeat"], [1, 2]),
    ]


def test_that_parameter_has_a_name_of_its_own():
    configs = list(core_configs(["repeat", "repeat_"], [(1, 1), (1, 1)]))
    assert configs[1] == (["repeat", "repeat_", "repeat__"], [1, 1, 1])


def test_numbers_of_different_types_and_zeros_of_different_signs_are_not_equal():
    assert given(1, 1.0, True, "1", 0.0, -0.0) == [[1], [1.0], [True], ["1"], [0.0], [-0.0]]


def test_without_parameters_configurations_are_told_apart():
    assert list(core_configs([], [(), ()])) == [(["repeat"], [0]), (["repeat"], [1])]
