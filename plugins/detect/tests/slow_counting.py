"""Lines and zones counted in another way: the whole path of a track at once, with fractions, and slowly."""

from __future__ import annotations

from fractions import Fraction


def exact(point):
    return Fraction(point[0]), Fraction(point[1])


def crossed(start, end, before, after):
    """Return 1, 0 or -1 for a straight move, from the parameters of the point where the lines meet."""
    (ax, ay), (bx, by), (px, py), (qx, qy) = map(exact, (start, end, before, after))
    # distances to the right of the line; a point on it is moved a little to the left
    from_line = [(by - ay) * (ax - x) + (bx - ax) * (y - ay) for x, y in ((px, py), (qx, qy))]
    was_right, is_right = (one > 0 for one in from_line)
    if was_right == is_right:
        return 0
    part = from_line[0] / (from_line[0] - from_line[1])
    x, y = px + part * (qx - px), py + part * (qy - py)
    along = (x - ax) * (bx - ax) + (y - ay) * (by - ay)
    length = (bx - ax) ** 2 + (by - ay) ** 2
    return (1 if is_right else -1) if 0 <= along <= length else 0


def inside(polygon, point):
    """Return whether a ray to the left meets the edges an odd number of times."""
    px, py = exact(point)
    count = 0
    corners = list(map(exact, polygon))
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        if (ay <= py < by) or (by <= py < ay):
            meets = ax + (py - ay) / (by - ay) * (bx - ax)
            count += meets > px
    return count % 2 == 1


def apart(start, end, point):
    """Return the square of a point's distance from a segment."""
    (ax, ay), (bx, by), (px, py) = map(exact, (start, end, point))
    dx, dy = bx - ax, by - ay
    part = ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy)
    part = min(max(part, Fraction(0)), Fraction(1))
    return (px - ax - part * dx) ** 2 + (py - ay - part * dy) ** 2


def visits(path, lost):
    """Yield the parts of a path, [(time, point), ...], between which the track was lost."""
    part = []
    for at, point in path:
        if part and at - part[-1][0] > lost:
            yield part, True
            part = []
        part.append((at, point))
    yield part, False


def line_events(path, line, rules, end):
    """Return (direction, time) of each crossing that counts, for one track; `end` is the last frame."""
    found = []
    for part, is_cut in visits(path, rules.lost_us):
        total, counted = 0, 0
        totals = []
        for i, (at, point) in enumerate(part):
            total += crossed(line[0], line[1], part[max(i - 1, 0)][1], point)
            totals.append(total)
            # since when the path differs from the count
            first = i
            while first and totals[first - 1] != counted:
                first -= 1
            is_sure = (
                apart(*line, point) >= Fraction(rules.margin) ** 2 or at - part[first][0] >= rules.hold_us
            )
            if total != counted and is_sure:
                found += [(total > counted, part[first][0])] * abs(total - counted)
                counted = total
                totals = [counted] * len(totals)
        if total != counted and (is_cut or end - part[-1][0] > rules.lost_us):
            first = next(i for i in range(len(part)) if all(one != counted for one in totals[i:]))
            found += [(total > counted, part[first][0])] * abs(total - counted)
    return found


def zone_events(path, polygon, rules, end):  # noqa: C901  # one story
    """Return ("enter", time) and ("leave", time, dwell) of one track."""
    found = []
    edges = list(zip(polygon, [*polygon[1:], polygon[0]], strict=True))
    for part, is_cut in visits(path, rules.lost_us):
        states = [inside(polygon, point) for _, point in part]
        is_lost = is_cut or end - part[-1][0] > rules.lost_us
        counted, entered = False, None

        def tell(now, at):
            nonlocal counted, entered
            counted = now
            if now:
                entered = at
                found.append(("enter", at))
            else:
                found.append(("leave", at, at - entered))

        for i, (at, point) in enumerate(part):
            if states[i] == counted:
                continue
            first = i
            while first and states[first - 1] == states[i]:
                first -= 1
            near = min(apart(*edge, point) for edge in edges)
            if near >= Fraction(rules.margin) ** 2 or at - part[first][0] >= rules.hold_us:
                tell(states[i], part[first][0])
        if is_lost:
            if states[-1] != counted:
                first = len(part) - 1
                while first and states[first - 1] == states[-1]:
                    first -= 1
                tell(states[-1], part[first][0])
            if counted:
                tell(False, part[-1][0])
    return found
