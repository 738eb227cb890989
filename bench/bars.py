"""What a benchmark found: figures with their spread, and the bars that some of them must reach.

    bar = Bar("rate as a share of nginx's", "", 2, 0.3, "min")
    row = bar.row([0.31, 0.35, 0.33])          # {"name": ..., "measured": 0.33, "spread": [0.31, 0.35], "ok": True, ...}
    print_table([row])

Nothing here measures anything, so that the arithmetic can be tested by itself.
"""
import statistics


class Bar:
    """A figure; with a bound it is one that must be reached. `side` says which side of the bound is good: "min" or "max"."""

    def __init__(self, name, unit="", decimals=0, bound=None, side="max", worst=False):
        self.name = name
        self.unit = unit
        self.decimals = decimals
        self.bound = bound
        self.side = side
        self.worst = worst  # the worst repetition is judged, not the median: for what must never happen

    def row(self, values, judged=True):
        """The figure from one value per repetition. Without values it was not measured, which is neither met nor missed."""
        measured = self._measured(values) if values else None
        ok = None
        if measured is not None and self.bound is not None and judged:
            ok = measured >= self.bound if self.side == "min" else measured <= self.bound
        return {"name": self.name, "target": self._target(), "bound": self.bound, "unit": self.unit,
                "measured": measured, "spread": [min(values), max(values)] if values else None, "ok": ok,
                "decimals": self.decimals}

    def _measured(self, values):
        if self.worst:
            return min(values) if self.side == "min" else max(values)
        return statistics.median(values)

    def _target(self):
        if self.bound is None:
            return None
        return f"{'at least' if self.side == 'min' else 'at most'} {write(self.bound, self.decimals, self.unit)}"


def write(number, decimals, unit):
    return f"{number:,.{decimals}f}{'' if unit in ('', '/s') else ' '}{unit}"


def micros_per(seconds, count):
    """CPU time for each of `count`, in microseconds. REQUIRES: count > 0, because nothing served is no figure."""
    return seconds * 1e6 / count


def pairwise(above, below):
    """The ratio within each repetition: what disturbs one of a pair mostly disturbs the other too."""
    return [a / b for a, b in zip(above, below)]


def passed(rows):
    return all(row["ok"] is not False for row in rows)


def _verdict(row):
    if row["target"] is None:
        return ""
    return {True: "ok", False: "MISSED", None: "not judged"}[row["ok"]]


def _cells(row):
    def text(number):
        return write(number, row["decimals"], row["unit"])

    low, high = row["spread"]
    return row["name"], row["target"] or "", text(row["measured"]), f"{text(low)} to {text(high)}", _verdict(row)


def print_table(rows, title="figure"):
    """REQUIRES: all of them were measured."""
    table = [(title, "target", "measured", "spread", "")] + [_cells(row) for row in rows]
    widths = [max(len(line[column]) for line in table) for column in range(5)]
    print()
    for name, target, measured, spread, verdict in table:
        print(f"  {name:{widths[0]}}  {target:{widths[1]}}  {measured:>{widths[2]}}  {spread:{widths[3]}}  {verdict}".rstrip())
