import numpy as np
from PIL import Image, ImageDraw

from planner import panels, video
from rearrange.scenes.apartment_kind import APARTMENT
from tests.helpers.planner_fakes import make_table_episode, moment_of


def test_titles_are_for_people():
    assert APARTMENT.title("table_01") == "table 1"
    assert APARTMENT.title("counter_left") == "left counter"
    assert APARTMENT.title("tvstand") == "TV stand"
    assert APARTMENT.title("fridge_middle") == "fridge"
    assert APARTMENT.title("drawer_right_top") == "top right drawer"
    assert APARTMENT.objects[0].title == "master chef can"


def plan_picture(plan_index, missed, failed=False):
    """The panel's plan, two targets with eight steps each [40, 300, 3]."""
    moment = moment_of(0)
    image = Image.new("RGB", (300, 40))
    panels.draw_plan(
        ImageDraw.Draw(image), make_table_episode(), moment.calls, plan_index, failed, missed,
        top=0, left=0, right=299,
    )  # fmt: skip
    return np.asarray(image)


def has(picture, colour):
    return bool((picture == colour).all(axis=-1).any())


def test_what_went_wrong_is_red_in_the_plan():
    dots = slice(200, 300)
    fine, wrong = plan_picture(8, ()), plan_picture(8, {3})
    assert has(fine[:20, dots], panels.DONE)
    assert not has(fine, panels.FAILED)
    assert has(wrong[:20, dots], panels.DONE)  # the other steps
    assert has(wrong[:20, dots], panels.FAILED)
    assert has(wrong[:20, :200], panels.FAILED)  # and the name
    assert not has(wrong[20:], panels.FAILED)
    assert has(plan_picture(8, (), failed=True)[20:, dots], panels.FAILED)


def width(text, size):
    return panels.font(size).getlength(text)


def test_lines_of_the_plan_leave_room_for_their_dots():
    episode, calls = make_table_episode(), moment_of(0).calls
    assert panels.line_title(episode, calls[:8], 500) == "cracker box to table 1"
    assert panels.line_title(episode, calls[:8], 100) == "cracker box"
    four = video.PANEL_WIDTH - 2 * video.MARGIN - 4 * 11
    for slot in range(len(APARTMENT.slot_kinds)):
        for name in APARTMENT.open_receptacles:
            goal = APARTMENT.title(name)
            assert width(f"{APARTMENT.objects[slot].title} to {goal}", panels.SMALL) <= four
