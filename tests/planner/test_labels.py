from planner.labels import BACK_OFF, LOOK, MONOLITHIC, REARM, label_of, legend
from skills import skill_names


def test_skills_and_phases_have_words_and_colours_of_their_own():
    for name in (*skill_names(), REARM, LOOK, BACK_OFF, MONOLITHIC):
        label = label_of(name)
        assert label.title
        assert label.verb
        assert label.colour.startswith("#")
    colours = [label_of(name).colour for name in legend()]
    assert len(set(colours)) == len(colours)


def test_what_others_results_name_is_called_by_its_name():
    assert label_of("water_the_plants").title == "water the plants"
