"""V-trace as the paper prints it, step by step."""

from ver.shared.outcomes import CONTINUES, TERMINATED, TRUNCATED


def plain_vtrace(steps, gamma, lam, rho_bar, c_bar):
    """Equation 1 as the paper prints it, for one chain of (r, V, outcome, final V, ratio)."""

    def future(t):
        outcome = steps[t][2]
        return {TERMINATED: 0.0, TRUNCATED: steps[t][3]}.get(outcome, steps[t + 1][1])

    def target(s):
        if s == len(steps) - 1:
            return steps[s][1]
        result, product, t = steps[s][1], 1.0, s
        while t < len(steps) - 1:
            reward, value, outcome, _, ratio = steps[t]
            delta = min(rho_bar, ratio) * (reward + gamma * future(t) - value)
            result += gamma ** (t - s) * product * delta
            if outcome != CONTINUES:
                break
            product *= lam * min(c_bar, ratio)
            t += 1
        return result

    def advantage(s):
        if s == len(steps) - 1:
            return 0.0
        ahead = future(s)
        if steps[s][2] == CONTINUES:
            ahead = (1 - lam) * ahead + lam * target(s + 1)
        return steps[s][0] + gamma * ahead - steps[s][1]

    return [target(s) for s in range(len(steps))], [advantage(s) for s in range(len(steps))]
