"""What is decoded, of which format, and how it leaves. In: what users say. Out: the engine's plans."""

from formatter.plans.decode_plan import (
    DecodePlan,
    Format,
    are_several,
    check_format,
    gives_formats,
    make_plan,
    projected_names,
    record_end_of,
    rescue_of,
    with_rescue,
)
from formatter.plans.plan_request import can_filter, filterable

__all__ = [
    "DecodePlan",
    "Format",
    "are_several",
    "can_filter",
    "check_format",
    "filterable",
    "gives_formats",
    "make_plan",
    "projected_names",
    "record_end_of",
    "rescue_of",
    "with_rescue",
]
