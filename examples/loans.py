"""Writes loans.csv: 1,500 borrowers who do not exist, the same ones every time.

The columns are named as spreadsheets name them, and some cells are empty, as they are in real tables.
"""

import csv
import random

draw = random.Random(2021)
HEADER = [
    "Applicant age", "Sex", "Home", "Income/month (EUR)", "Debt/income %", "Job since (months)", "Loan (EUR)",
    "Term (months)", "Repaid?",
]


def borrower():
    age = min(75, 21 + int(draw.gammavariate(2.2, 9)))
    woman = draw.random() < 0.48
    income = 50 * round(draw.lognormvariate(7.75 - 0.08 * woman + 0.004 * min(age - 21, 25), 0.35) / 50)
    job = int(min((age - 18) * 12, draw.expovariate(1 / 60)))
    debt = min(90, int(draw.gammavariate(2.5, 9)))
    home = draw.choices(["rents", "owns", "with family"], [55, 30 + age / 3, 40 if age < 30 else 5])[0]
    loan = 100 * max(5, round(draw.lognormvariate(8.6, 0.7) / 100))
    term = draw.choice([12, 24, 36, 48, 60, 72])
    strain = loan / term / income
    chances = 2.4 - 0.055 * debt - 6.0 * strain + 0.006 * min(job, 120) + 0.0003 * (income - 2300)
    chances += 0.5 * (home == "owns") + draw.gauss(0, 0.8)
    row = [age, "f" if woman else "m", home, income, debt, job, loan, term, "yes" if chances > 0 else "no"]
    if draw.random() < 0.03:
        row[5] = ""  # nobody asked how long the job has lasted
    if draw.random() < 0.01:
        row[2] = ""
    return row


with open("loans.csv", "w", newline="") as file:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(HEADER)
    rows.writerows(borrower() for _ in range(1_500))
