from rearrange.render.camera import Camera
from rearrange.scenes.generator import generate_apartment
from rearrange.view import home_sheet
from tests.helpers.colours import colours_of


def test_a_caption_tells_rooms_and_floor_area():
    home = generate_apartment(0, 0)
    words = home_sheet.caption_of(home)
    width, depth = home.bounds[2:]
    assert words.startswith(f"{home.name}: {len(home.rooms)} rooms, ")
    area = float(words.split()[-2])
    assert 0.8 * width * depth < area <= width * depth + 0.5


def test_homes_stand_in_rows(monkeypatch):
    tile = Camera(90, 120, 45)
    monkeypatch.setattr(home_sheet, "TILE", tile)
    home = generate_apartment(0, 0)
    one = home_sheet.home_sheet([home])
    two = home_sheet.home_sheet([home] * (home_sheet.COLUMNS + 1))
    assert one.shape[0] >= tile.height
    assert two.shape[0] > 2 * tile.height  # a second row
    assert two.shape[1] > one.shape[1]
    picture = home_sheet.picture_from_above(home, tile)
    assert picture.shape == (tile.height, tile.width, 3)
    assert len(colours_of(picture)) > 50
