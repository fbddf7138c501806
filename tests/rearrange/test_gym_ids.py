import gymnasium

from rearrange.gym_ids import id_of, register_id


def test_ids_are_words_without_underscores():
    assert id_of("pick") == "rearrange/Pick-v0"
    assert id_of("open_fridge") == "rearrange/OpenFridge-v0"


def test_an_id_is_registered_once_and_keeps_its_first_meaning():
    name = "rearrange/NeverSeen-v0"
    try:
        register_id(name, "somewhere", "one")
        register_id(name, "elsewhere", "two")
        spec = gymnasium.registry[name]
        assert spec.entry_point == "somewhere:make"
        assert spec.vector_entry_point == "somewhere:make_vector"
        assert spec.kwargs == {"task": "one"}
    finally:
        gymnasium.registry.pop(name, None)
