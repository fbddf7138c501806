from dataclasses import fields

from rearrange.scenes.palettes import mixed_palette, palette_of


def test_colours_depend_on_the_numbers_of_an_apartment_alone():
    for palette in (palette_of, mixed_palette):
        assert palette(3, 5) == palette(3, 5)
        assert len({palette(3, variation) for variation in range(8)}) == 8


def test_all_are_colours_and_mixed_ones_take_floors_and_fronts_from_elsewhere():
    plain, changed = palette_of(1000, 0), set()
    for layout in range(1000, 1020):
        plain, mixed = palette_of(layout, 0), mixed_palette(layout, 0)
        for field in fields(plain):
            colour = getattr(mixed, field.name)
            assert len(colour) == 4
            assert all(0.0 <= part <= 1.0 for part in colour)
            if colour != getattr(plain, field.name):
                changed.add(field.name)
    assert changed == {"floor", "tile", "front", "worktop"}
