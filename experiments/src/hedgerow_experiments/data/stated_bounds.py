"""Bounds of numeric columns that a curator could state before seeing a record, with the reason for each group.

They were written down from units, definitions, physical limits and what the publishers document, rounded, and not
changed after a look at the records: a test prints which share of records lies outside, and nothing was fitted to it
(two units of BUI apart, which it showed to be other than printed: their lines say so).
Where only habit supports a bound, the reason says "by hand". Values outside are clipped, as the library does.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

__all__ = ["STATED", "Stated", "stated_for"]


class Stated(NamedTuple):
    """Bounds of the columns whose names fit one of the patterns (``*`` stands for any text)."""

    names: tuple[str, ...]
    low: float
    high: float
    why: str


def stated_for(column: str, known: tuple[Stated, ...]) -> Stated | None:
    """Return what is stated of a column: the first that fits, or None.

    >>> stated_for("RH_out", STATED["APP"]).high
    100
    """
    return next((s for s in known if any(fnmatchcase(column, name) for name in s.names)), None)


def _of(names: str, low: float, high: float, why: str) -> Stated:
    return Stated(tuple(names.split()), low, high, why)


_PERCENT = "a percentage"
_CLOCK = "the calendar, or the clock"
_WEATHER = "by hand: the weather of the place"

_WINE = (
    _of("fixed_acidity", 3, 16, "by hand: g/l of tartaric acid in wine"),
    _of("volatile_acidity", 0, 2, "by hand: above the legal limits of about 1.2 g/l it is vinegar"),
    _of("citric_acid", 0, 1, "g/l; the legal limit"),
    _of("residual_sugar", 0, 50, "g/l; above 45 a wine is sweet, and these are not"),
    _of("chlorides", 0, 0.6, "g/l; the International Organisation of Vine and Wine's limit"),
    _of("free_so2", 0, 150, "by hand: half of the total"),
    _of("total_so2", 0, 300, "mg/l; the highest legal limit of wines that are not sweet"),
    _of("density", 0.98, 1.01, "by hand: between alcohol in water and sugar in water, g/ml"),
    _of("pH", 2.5, 4.5, "by hand: wine is sour"),
    _of("sulphates", 0, 2, "by hand: g/l"),
    _of("alcohol", 8, 15, "% vol; the law's range for wine"),
)
_FLIGHT = (
    _of("Month month", 1, 12, _CLOCK),
    _of("DayofMonth day", 1, 31, _CLOCK),
    _of("DayOfWeek weekday", 1, 7, _CLOCK),
    _of("DepTime ArrTime dep_time arr_time", 0, 2400, "hhmm on the clock"),
    _of("AirTime air_time", 0, 660, "minutes; Newark to Honolulu, the longest domestic flight, takes eleven hours"),
    _of("Distance distance", 0, 5000, "miles; Newark to Honolulu is 4,962"),
    _of("plane_age", 0, 60, "by hand: years that an airliner flies"),
)
_TRIP = (
    _of("*_community_area", 1, 77, "Chicago has 77 community areas"),
    _of("trip_day_of_week", 0, 6, _CLOCK),
    _of("trip_hour_of_day", 0, 23, _CLOCK),
    _of("trip_month", 1, 12, _CLOCK),
    _of("tips", 0, 50, "by hand: a quarter of the highest fare in the city, dollars"),
    _of("trip_seconds", 0, 7200, "by hand: two hours"),
    _of("trip_miles", 0, 60, "by hand: across the city and back"),
)

STATED: dict[str, tuple[Stated, ...]] = {
    "ABA": (
        _of("Length Diameter", 0, 1, "mm divided by 200, as documented; abalones grow to 200 mm"),
        _of("Height", 0, 0.5, "by hand: half as high as long"),
        _of("WholeWeight", 0, 3, "by hand: 600 g, divided by 200 as documented"),
        _of("*Weight", 0, 1.5, "by hand: half of the whole"),
    ),
    "AIR": (
        _of("Freq", 0, 20_000, "Hz; what can be heard"),
        _of("Angle", 0, 25, "by hand: degrees at which a blade has stalled"),
        _of("Length", 0, 0.31, "chords of up to a foot were built, m"),
        _of("Vel", 0, 75, "the tunnel's speeds, m/s"),
        _of("Displ", 0, 0.06, "by hand: a fifth of the longest chord, m"),
    ),
    "ALG": (
        _of("day", 1, 31, _CLOCK),
        _of("month", 6, 9, "the study ran from June to September"),
        _of("Temperature", 15, 50, "by hand: noon in an Algerian summer"),
        _of("RH", 0, 100, _PERCENT),
        _of("Ws", 0, 40, _WEATHER + ", km/h"),
        _of("Rain", 0, 20, _WEATHER + ", mm a day"),
        _of("FFMC", 0, 101, "the index's definition"),
        _of("DMC BUI", 0, 100, "by hand: the index of a dry summer"),
        _of("DC", 0, 300, "by hand: the index of a dry summer"),
        _of("ISI", 0, 30, "by hand: the index of a dry summer"),
        _of("FWI", 0, 50, "by hand: above it the danger is extreme"),
    ),
    "APP": (
        _of("lights", 0, 100, "by hand: ten lamps of 60 W for 10 minutes, Wh"),
        _of("T6 T_out", -15, 35, _WEATHER + ", Belgium from January to May"),
        _of("T?", 10, 30, "by hand: rooms of a heated house"),
        _of("RH_*", 0, 100, _PERCENT),
        _of("Press_mm_hg", 720, 790, "960 to 1053 hPa in mm of mercury: low and high pressure near sea level"),
        _of("Windspeed", 0, 20, _WEATHER + ", m/s"),
        _of("Visibility", 0, 100, _WEATHER + ", km"),
        _of("Tdewpoint", -15, 25, _WEATHER),
        _of("Month", 1, 5, "the study ran from January to May"),
        _of("Day", 1, 31, _CLOCK),
    ),
    "AQU": (
        _of("TPSA", 0, 350, "by hand: polar surface, square angstroms"),
        _of("SAacc", 0, 600, "by hand: surface of acceptors, square angstroms"),
        _of("H-050 nN C-040", 0, 12, "by hand: atoms of a kind in a small molecule"),
        _of("MLOGP", -5, 10, "by hand: powers of ten between water and octanol"),
        _of("RDCHI", 1, 7, "by hand: grows with the molecule"),
        _of("GATS1p", 0, 3, "by hand: Geary's coefficient is 1 without correlation"),
    ),
    "BAN": (_of("*", -20, 20, "by hand: four statistics of a wavelet transform, without documented units"),),
    # Units as the publisher lists them. 1372 to 1388 of the Persian calendar: prices rose by 15 to 20 % a year.
    "BUI": (
        _of("START?YEAR COMPLETION?YEAR", 70, 90, "the Persian calendar without its century: the years of the study"),
        _of("START?QUARTER COMPLETION?QUARTER", 1, 4, _CLOCK),
        _of("V-1", 1, 20, "the documented codes of places"),
        _of("V-2", 0, 20000, "by hand: square metres of all floors"),
        _of("V-3", 0, 5000, "by hand: square metres of the lot"),
        _of("V-4", 0, 2000, "by hand: 10 million rial; a million a square metre of 20,000"),
        _of("V-5 V-6", 0, 1000, "by hand: building costs a square metre, 10,000 rial"),
        _of("V-7", 0, 20, "by hand: quarters of building, five years"),
        _of("V-8", 0, 8000, "the label's bounds: the same price before building"),
        _of("V-11*", 0, 20000, "by hand: permits of one city in a quarter"),
        _of("V-12* V-13* V-17* V-25* V-26*", 0, 1000, "by hand: indices of 100 in a year of the study"),
        _of("V-14*", 0, 20000, "by hand: 1,000 square metres, one for each permit"),
        _of("V-15*", 0, 2e6, "by hand: money of the country, billions of rial"),
        _of("V-16*", 0, 100000, "by hand: investment in new buildings, billions of rial"),
        _of("V-18*", 0, 1e6, "by hand: loans of all banks in a quarter"),
        _of("V-19*", 0, 2e6, "by hand: the same in 10 million rial; never above all money"),
        _of("V-20*", 0, 30, _PERCENT + ", and interest was regulated"),
        _of("V-21* V-22*", 0, 10000, "by hand: the same costs in 1,000 rial; the printed unit was found wrong"),
        _of("V-23* V-24*", 0, 10000, "by hand: dollars in rial; the printed unit, 10 rial, was found wrong"),
        _of("V-27*", 0, 20000, "by hand: the stock exchange's index"),
        _of("V-28*", 0, 1e7, "by hand: people of one city"),
        _of("V-29*", 0, 1e7, "by hand: an ounce of gold in rial"),
    ),
    "CAL": (
        _of("MedInc", 0, 15, "the census capped incomes at 150,000 dollars, in tens of thousands"),
        _of("HouseAge", 1, 52, "the census capped ages at 52 years"),
        _of("AveRooms", 0, 15, "by hand: rooms of a household"),
        _of("AveBedrms", 0, 5, "by hand: bedrooms of a household"),
        _of("Population", 0, 10_000, "by hand: a block group has 600 to 3,000 people as a rule"),
        _of("AveOccup", 0, 10, "by hand: people of a household"),
        _of("Latitude", 32, 42.1, "California's borders"),
        _of("Longitude", -124.5, -114, "California's borders"),
    ),
    "CBM": (
        _of("lever_position", 0, 10, "the lever's scale"),
        _of("ship_speed", 0, 30, "knots; the frigate's speed"),
        _of("GTT", 0, 80_000, "by hand: shaft torque, kN m"),
        _of("GTn", 0, 4000, "by hand: revolutions of a power turbine"),
        _of("GGn", 0, 10_000, "by hand: revolutions of a gas generator"),
        _of("Ts Tp", 0, 800, "by hand: propeller torque, kN"),
        _of("T48", 300, 1200, "by hand: turbine exit, degrees"),
        _of("T1", 250, 320, "air at the inlet, kelvin"),
        _of("T2", 300, 900, "by hand: compressor outlet, kelvin"),
        _of("P48", 0, 6, "by hand: turbine exit, bar"),
        _of("P1 Pexh", 0.9, 1.1, "outside pressure, bar"),
        _of("P2", 0, 30, "by hand: compressor outlet, bar"),
        _of("TIC", 0, 100, _PERCENT),
        _of("mf", 0, 2, "by hand: fuel, kg/s"),
    ),
    "CCP": (
        _of("AT", -10, 45, _WEATHER + ", Turkey"),
        _of("V", 20, 90, "exhaust vacuum, cm Hg: published with the data as 25 to 82, rounded outwards"),
        _of("AP", 970, 1050, "hPa; low and high pressure near sea level"),
        _of("RH", 0, 100, _PERCENT),
    ),
    "CON": (
        _of("cement", 100, 600, "by hand: kg in a cubic metre"),
        _of("slag", 0, 400, "by hand: kg in a cubic metre"),
        _of("fly_ash", 0, 250, "by hand: kg in a cubic metre"),
        _of("water", 100, 250, "by hand: kg in a cubic metre"),
        _of("superplasticizer", 0, 35, "by hand: kg in a cubic metre"),
        _of("coarse_agg", 700, 1200, "by hand: kg in a cubic metre"),
        _of("fine_agg", 500, 1000, "by hand: kg in a cubic metre"),
        _of("age", 1, 365, "days; strength is tested for up to a year"),
    ),
    "CPU": (
        _of("lread lwrite", 0, 1000, "by hand: transfers a second"),
        _of("scall", 0, 10_000, "by hand: calls a second"),
        _of("sread swrite", 0, 5000, "by hand: calls a second"),
        _of("fork", 0, 20, "by hand: calls a second"),
        _of("exec", 0, 50, "by hand: calls a second"),
        _of("rchar wchar", 0, 2_000_000, "by hand: characters a second"),
        _of("runqsz", 0, 1000, "by hand: processes that wait"),
        _of("freemem", 0, 10_000, "by hand: pages"),
        _of("freeswap", 0, 2_000_000, "by hand: blocks"),
    ),
    "CRE": (
        _of("LIMIT_BAL", 0, 1_000_000, "by hand: credit in New Taiwan dollars"),
        _of("SEX", 1, 2, "the documented codes"),
        _of("EDUCATION", 1, 4, "the documented codes"),
        _of("MARRIAGE", 1, 3, "the documented codes"),
        _of("AGE", 18, 100, "adults"),
        _of("PAY_AMT?", 0, 1_000_000, "by hand: nobody pays more than the highest limit"),
        _of("PAY_*", -1, 9, "the documented codes"),
        _of("BILL_AMT?", -50_000, 1_000_000, "by hand: the highest limit; a little is owed to the client"),
    ),
    "CRM": (_of("*", 0, 1, "normalised by the publisher"),),
    "DAK": (_of("*", -0.15, 0.15, "by hand: returns of one day"),),
    "DIA": (_of("*", -0.25, 0.25, "scaled by the publisher to a deviation of 442^-0.5; five of these"),),
    "FIS": (
        _of("CIC0", 0, 6, "by hand: bits"),
        _of("SM1_Dz(Z)", 0, 3, "by hand"),
        _of("GATS1i", 0, 3, "by hand: Geary's coefficient is 1 without correlation"),
        _of("NdsCH NdssC", 0, 6, "by hand: atoms of a kind in a small molecule"),
        _of("MLOGP", -5, 10, "by hand: powers of ten between water and octanol"),
    ),
    "FLI": _FLIGHT,
    "GAS": (
        _of("AT", -10, 45, _WEATHER + ", Turkey"),
        _of("AP", 970, 1050, "hPa; low and high pressure near sea level"),
        _of("AH", 0, 100, _PERCENT),
        _of("AFDP", 0, 10, "mbar; published with the data as 2 to 7.6, rounded outwards"),
        _of("GTEP", 15, 45, "mbar; published with the data as 17.7 to 40.7, rounded outwards"),
        _of("TIT", 1000, 1110, "degrees; published with the data as 1000 to 1101, rounded outwards"),
        _of("TAT", 500, 560, "degrees; published with the data as 511 to 551, rounded outwards"),
        _of("CDP", 5, 20, "bar; published with the data as 9.8 to 15.2, rounded outwards"),
        _of("CO", 0, 50, "mg in a cubic metre; published with the data as 0 to 44.1, rounded outwards"),
        _of("NOX", 0, 150, "mg in a cubic metre; published with the data as 25.9 to 119.9, rounded outwards"),
    ),
    "HAR": (
        _of("age", 18, 100, "adults"),
        _of("how_tall_in_meters", 1.4, 2.1, "by hand: adults"),
        _of("weight", 40, 150, "by hand: adults, kg"),
        _of("??", -512, 512, "readings of a converter of 10 bits, about its middle"),
    ),
    "HIG": (
        _of("x3 x5 x8 x12 x16 x20", -3.15, 3.15, "angles about the beam"),
        _of("x2 x7 x11 x15 x19", -3, 3, "pseudorapidities: what the detector sees"),
        _of("x9 x13 x17 x21", 0, 4, "by hand: scaled codes of b-tags"),
        _of("*", 0, 10, "by hand: momenta and masses in units of about their means"),
    ),
    "HOU": (
        _of("CRIM", 0, 100, "by hand: crimes by a hundred people"),
        _of("ZN INDUS AGE LSTAT", 0, 100, _PERCENT),
        _of("CHAS", 0, 1, "yes or no"),
        _of("NOX", 0, 1, "by hand: parts in ten million"),
        _of("RM", 1, 10, "by hand: rooms"),
        _of("DIS", 0, 15, "by hand: miles to work"),
        _of("RAD", 1, 24, "the index's scale"),
        _of("TAX", 0, 1000, "by hand: dollars on 10,000"),
        _of("PTRATIO", 10, 30, "by hand: pupils by teacher"),
        _of("B", 0, 396.9, "its formula, 1000 (b - 0.63)^2 with a share b"),
    ),
    "MET": (
        _of("temp", 240, 315, _WEATHER + ", Minneapolis, kelvin"),
        _of("rain_1h", 0, 50, _WEATHER + ", mm in an hour"),
        _of("snow_1h", 0, 10, _WEATHER + ", mm of water in an hour"),
        _of("clouds_all", 0, 100, _PERCENT),
        _of("weekday", 0, 6, _CLOCK),
        _of("hour", 0, 23, _CLOCK),
    ),
    "MUS": (_of("*", -5, 5, "scaled by the publisher to a deviation of one; five of these"),),
    "NYC": _FLIGHT,
    "PAR": (
        _of("age", 30, 100, "by hand: the disease is one of the old"),
        _of("sex", 0, 1, "the documented codes"),
        _of("test_time", 0, 210, "days of a trial of six months, and one more"),
        _of("Jitter(%)", 0, 0.1, "by hand: a tenth of a period, and a voice is hardly periodic"),
        _of("Jitter(Abs)", 0, 0.0005, "by hand: the same of periods of 5 ms, seconds"),
        _of("Jitter:RAP Jitter:PPQ5", 0, 0.05, "by hand: half of the jitter, as averages are"),
        _of("Jitter:DDP", 0, 0.15, "three times RAP, by definition"),
        _of("Shimmer", 0, 0.3, "by hand: ratios of amplitudes"),
        _of("Shimmer(dB)", 0, 3, "by hand: the same in dB"),
        _of("Shimmer:APQ3 Shimmer:APQ5", 0, 0.2, "by hand: ratios of amplitudes"),
        _of("Shimmer:APQ11", 0, 0.3, "by hand: ratios of amplitudes"),
        _of("Shimmer:DDA", 0, 0.6, "three times APQ3, by definition"),
        _of("NHR", 0, 1, "by hand: a ratio of noise to tone"),
        _of("HNR", 0, 40, "by hand: dB"),
        _of("RPDE DFA PPE", 0, 1, "normalised by definition"),
    ),
    "POR": (
        _of("w_*", 0, 1, "weights that add up to one"),
        _of("excess_return", -1, 1, "nobody loses more than all; gain by hand"),
        _of("systematic_risk", 0, 3, "by hand: a beta"),
        _of("total_risk", 0, 1, "by hand: a deviation of returns"),
        _of("*_win_rate", 0, 1, "shares"),
    ),
    "PYR": (_of("*", 0, 1, "scaled by the publisher"),),
    "RED": _WINE,
    "ROB": (_of("US*", 0, 5, "metres; the sensor gives 5 where nothing echoes"),),
    "TAX": _TRIP,
    "TAX13": _TRIP,
    "WHI": _WINE,
}
"""By code."""
