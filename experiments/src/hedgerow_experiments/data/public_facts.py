"""What is public about each data set: bounds, classes and categories, declared and never read from the data.

A bound is a fact that a curator could state before seeing a single record: a scale's definition, a cap that the
publisher announces, a physical limit. Where only habit supports it, the reason says "set by hand".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from hedgerow_experiments.data.public_taxi import COMPANIES_2013, COMPANIES_2022
from hedgerow_experiments.data.stated_bounds import STATED, Stated

__all__ = ["FACTS", "Facts"]


@dataclass(frozen=True)
class Facts:
    """Public facts about one data set.

    ``label_bounds`` hold for every record; ``classes`` are the labels of a classification task; ``categories`` maps
    the columns that hold names to all of their values. All other columns are numbers; ``features`` states their
    bounds, which most records keep to.
    """

    name: str
    target: str
    label_bounds: tuple[float, float] | None
    why: str
    classes: tuple[str | int, ...] | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    features: tuple[Stated, ...] = ()


_BINARY = (0, 1)
_TRAFFIC = {
    "holiday": (
        "Christmas Day", "Columbus Day", "Independence Day", "Labor Day", "Martin Luther King Jr Day", "Memorial Day",
        "New Years Day", "None", "State Fair", "Thanksgiving Day", "Veterans Day", "Washingtons Birthday",
    ),
    "weather_main": (
        "Clear", "Clouds", "Drizzle", "Fog", "Haze", "Mist", "Rain", "Smoke", "Snow", "Squall", "Thunderstorm",
    ),
}  # fmt: skip
_FLIGHTS = {
    "carrier": ("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"),
    "origin": ("EWR", "JFK", "LGA"),
}
_PAYMENTS_2013 = ("Cash", "Credit Card", "Dispute", "No Charge", "Pcard", "Prcard", "Unknown")
_PAYMENTS_2022 = ("Cash", "Credit Card", "Dispute", "Mobile", "No Charge", "Prcard", "Unknown")
_DELAY = "set by hand: a flight is early by two hours at most, and a day late it is another day's flight"

_LABELS: dict[str, Facts] = {
    "ABA": Facts(
        "Abalone", "Rings", (0, 30), "rings count years, and abalones live for about 30",
        categories={"Sex": ("F", "I", "M")},
    ),
    "AIR": Facts("Airfoil self-noise", "Pressure", (90, 150), "set by hand: sound levels near a blade, dB"),
    "ALG": Facts(
        "Algerian forest fires", "Classes", (0, 1), "fire or no fire", _BINARY,
        {"Region": ("Bejaia", "Sidi-Bel Abbes")},
    ),
    "APP": Facts("Appliances energy", "Appliances", (0, 1100), "what a house connection of 6.6 kW gives in 10 minutes"),
    "AQU": Facts("QSAR aquatic toxicity", "LC50", (0, 12), "set by hand: -log10 mol/l"),
    "BAN": Facts("Banknote authentication", "cls", None, "genuine or forged", _BINARY),
    "BUI": Facts("Residential building", "V-9", (0, 8000), "set by hand: prices a square metre, 10,000 rial"),
    "CAL": Facts("California housing", "MedHouseVal", (0, 5.00001), "the census capped values at 500,001 dollars"),
    "CBM": Facts("Naval propulsion", "decay_compressor", (0.95, 1), "the simulator's range, stated by its authors"),
    "CCP": Facts("Combined cycle power plant", "PE", (420, 500), "published with the data: MW at full load"),
    "CON": Facts("Concrete strength", "strength", (0, 100), "set by hand: strengths that mixes reach, MPa"),
    "CPU": Facts("cpusmall", "usr", (0, 100), "a percentage"),
    "CRE": Facts("Default of credit card clients", "default.payment.next.month", None, "default or not", _BINARY),
    "CRM": Facts("Communities and Crime", "ViolentCrimesPerPop", (0, 1), "normalised by the publisher"),
    "DAK": Facts("Istanbul stock exchange", "ISE_USD", (-0.15, 0.15), "set by hand: returns of one day"),
    "DIA": Facts("Diabetes", "progression", (0, 400), "set by hand: the score's scale is not published"),
    "FIS": Facts("QSAR fish toxicity", "LC50", (0, 12), "set by hand: -log10 mol/l"),
    "FLI": Facts("Flight delay 2008", "ArrDelay", (-120, 1440), _DELAY),
    "GAS": Facts("Gas turbine emission", "TEY", (100, 180), "published with the data: MWh, the working range"),
    "HAR": Facts(
        "Human activity (PUC-Rio)", "class", None, "the protocol's five activities",
        ("sitting", "sittingdown", "standing", "standingup", "walking"), {"gender": ("Man", "Woman")},
    ),
    "HIG": Facts("HIGGS", "response", None, "signal or background", _BINARY),
    "HOU": Facts("Boston housing", "MEDV", (0, 50), "the census capped values at 50,000 dollars"),
    "MET": Facts(
        "Metro Interstate traffic", "traffic_volume", (0, 10_000), "set by hand: what four lanes carry in an hour",
        categories=_TRAFFIC,
    ),
    "MUS": Facts("Geographical origin of music", "latitude", (-90, 90), "a latitude, in degrees"),
    "NYC": Facts("Flight delay NYC 2013", "arr_delay", (-120, 1440), _DELAY, categories=_FLIGHTS),
    "PAR": Facts("Parkinsons telemonitoring", "total_UPDRS", (0, 176), "the scale's definition"),
    "POR": Facts("Stock portfolio performance", "annual_return", (-1, 1), "nobody loses more than all; gain by hand"),
    "PYR": Facts("Pyrimidines", "y", (0, 1), "scaled by the publisher"),
    "RED": Facts("Wine quality, red", "quality", (0, 10), "the grading scale"),
    "ROB": Facts(
        "Wall-following robot", "move", None, "the robot's four commands",
        ("Move-Forward", "Sharp-Right-Turn", "Slight-Left-Turn", "Slight-Right-Turn"),
    ),
    "TAX": Facts(
        "Chicago taxi trips, May 2022", "fare", (0, 200), "set by hand: a ride across the city and its airports",
        categories={"company": COMPANIES_2022, "payment_type": _PAYMENTS_2022},
    ),
    "TAX13": Facts(
        "Chicago taxi trips, 2013-16", "fare", (0, 1000), "set by hand: the meter shows three digits",
        categories={"company": COMPANIES_2013, "payment_type": _PAYMENTS_2013},
    ),
    "WHI": Facts("Wine quality, white", "quality", (0, 10), "the grading scale"),
}  # fmt: skip
FACTS = {code: replace(facts, features=STATED.get(code, ())) for code, facts in _LABELS.items()}
"""Public facts by code."""
