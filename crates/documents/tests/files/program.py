def days(country):
    return 14 if country == "France" else 30
