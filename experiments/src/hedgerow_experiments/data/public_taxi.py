"""Taxi companies, as spelt in the City of Chicago's open data (the City publishes who holds a licence)."""

from __future__ import annotations

__all__ = ["COMPANIES_2013", "COMPANIES_2022"]

COMPANIES_2022 = (
    "24 Seven Taxi", "2733 - 74600 Benny Jona", "312 Medallion Management Corp", "3556 - 36214 RC Andrews Cab",
    "4053 - 40193 Adwar H. Nikola", "4623 - 27290 Jay Kim", "4787 - 56058 Reny Cab Co",
    "6574 - Babylon Express Inc.", "Blue Ribbon Taxi Association", "Blue Ribbon Taxi Association Inc.",
    "Chicago Independents", "Chicago Taxicab", "Choice Taxi Association", "City Service", "Flash Cab",
    "Globe Taxi", "KOAM Taxi Association", "Koam Taxi Association", "Medallion Leasin", "Metro Jet Taxi A.",
    "Patriot Taxi Dba Peace Taxi Associat", "Petani Cab Corp", "Setare Inc", "Star North Taxi Management Llc",
    "Sun Taxi", "Taxi Affiliation Services", "Taxicab Insurance Agency Llc", "Taxicab Insurance Agency, LLC",
    "Top Cab", "Top Cab Affiliation", "U Taxicab",
)  # fmt: skip

COMPANIES_2013 = (
    "0118 - 42111 Godfrey S.Awir", "0694 - 59280 Chinesco Trans Inc", "1085 - 72312 N and W Cab Co",
    "2092 - 61288 Sbeih company", "2192 - 73487 Zeymane Corp", "2192 - Zeymane Corp", "2733 - 74600 Benny Jona",
    "2809 - 95474 C & D Cab Co Inc.", "2823 - 73307 Seung Lee", "3011 - 66308 JBL Cab Inc.",
    "3094 - 24059 G.L.B. Cab Co", "3152 - 97284 Crystal Abernathy", "3201 - C&D Cab Co Inc",
    "3201 - CID Cab Co Inc", "3253 - 91138 Gaither Cab Co.", "3319 - CD Cab Co", "3385 - 23210 Eman Cab",
    "3385 - Eman Cab", "3623 - 72222 Arrington Enterprises", "3897 - 57856 Ilie Malec", "3897 - Ilie Malec",
    "4053 - 40193 Adwar H. Nikola", "4053 - Adwar H. Nikola", "4197 - 41842 Royal Star", "4197 - Royal Star",
    "4615 - 83503 Tyrone Henderson", "4615 - Tyrone Henderson", "4623 - Jay Kim", "5006 - 39261 Salifu Bawa",
    "5006 - Salifu Bawa", "5074 - 54002 Ahzmi Inc", "5074 - Ahzmi Inc", "5129 - 87128",
    "5129 - 98755 Mengisti Taxi", "5129 - Mengisti Taxi", "5724 - KYVI Cab Inc", "585 - 88805 Valley Cab Co",
    "585 - Valley Cab Co", "5864 - 73614 Thomas Owusu", "5864 - Thomas Owusu", "5874 - 73628 Sergey Cab Corp.",
    "5874 - Sergey Cab Corp.", "5997 - 65283 AW Services Inc.", "5997 - AW Services Inc.",
    "6057 - 24657 Richard Addo", "6488 - 83287 Zuha Taxi", "6574 - Babylon Express Inc.",
    "6742 - 83735 Tasha ride inc", "6743 - Luhak Corp", "Blue Ribbon Taxi Association Inc.", "C & D Cab Co Inc",
    "Chicago Elite Cab Corp.", "Chicago Elite Cab Corp. (Chicago Carriag", "Chicago Medallion Leasing INC",
    "Chicago Medallion Management", "Choice Taxi Association", "Dispatch Taxi Affiliation",
    "KOAM Taxi Association", "Northwest Management LLC", "Taxi Affiliation Services", "Top Cab Affiliation",
)  # fmt: skip
