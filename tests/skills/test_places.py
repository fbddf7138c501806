"""Plans and apartments of evaluations, counted and told."""

from skills.places import count_places, places_of, plan_of, told_places


def test_plans_of_apartments_and_of_buildings():
    assert plan_of({"layout": 5003, "variation": 7}) == "5003"
    assert plan_of({"building": "floor24_variation1"}) == "floor24"
    assert plan_of({"building": "skokloster-castle"}) == "skokloster-castle"
    assert plan_of({"episode": 1}) == ""


def test_places_are_counted_once():
    homes = [(3, 0), (3, 1), (3, 0), (4, 1)]
    results = [{"layout": layout, "variation": variation} for layout, variation in homes]
    assert count_places(results) == {"plans": 2, "apartments": 3}
    floors = [{"building": f"floor0{k // 2}_variation{k}"} for k in range(4)]
    assert count_places(floors) == {"plans": 2, "apartments": 4}
    assert count_places([{"score": 1.0}]) == {}
    assert told_places(count_places(results[:1])) == ", 1 plan, 1 apartment"
    assert told_places({}) == ""


def test_places_of_a_result_come_from_its_rows_or_records():
    rows = [[0, 3, 11, 1], [1, 3, 4, 1]]
    table = {"columns": ["episode", "layout", "variation", "success"], "rows": rows}
    assert places_of({"per_episode": table}) == {"plans": 1, "apartments": 2}
    assert places_of({"records": [{"layout": 3, "variation": 1}]}) == {"plans": 1, "apartments": 1}
    assert places_of({"episodes": 3}) == {}
