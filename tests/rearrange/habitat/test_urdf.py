from xml.etree import ElementTree

from rearrange.habitat.urdf import Link, Shape, urdf
from rearrange.robot.fetch import FETCH
from rearrange.sim.apartment_model import load_apartment


def test_a_link_becomes_urdf():
    text = urdf("x", [Link("a"), Link("b", "a", shapes=(Shape("capsule", (0.1, 0.2)),), group=64)])
    root = ElementTree.fromstring(text)
    (collision,) = root.iter("collision")
    assert collision.get("group") == "64"
    assert collision.find("geometry/capsule").attrib == {"radius": "0.1", "length": "0.2"}
    (joint,) = root.findall("joint")
    assert joint.get("type") == "fixed"


def test_the_fetch_for_habitat_lab_has_the_links_that_it_counts_on():
    from benchmarks.habitat_lab_scene import fetch_for_habitat_lab

    links = fetch_for_habitat_lab(load_apartment(3, 0, FETCH).model)
    root = ElementTree.fromstring(urdf("fetch", links))
    joints = sorted(root.findall("joint"), key=lambda joint: joint.get("name"))
    below = {}
    for joint in joints:
        parent, child = joint.find("parent").get("link"), joint.find("child").get("link")
        below.setdefault(parent, []).append(child)

    def in_order(link):
        return [link, *(name for child in below.get(link, ()) for name in in_order(child))]

    numbered = dict(enumerate(in_order("base_link"), start=-1))
    assert (numbered[2], numbered[4]) == ("r_wheel_link", "l_wheel_link")
    assert numbered[6] == "fetch_torso"
    assert (numbered[8], numbered[9]) == ("head_pan_link", "head_tilt_link")
    arm = [f"fetch_{name}" for name in FETCH.joint_names]
    assert [numbered[k] for k in range(15, 22)] == arm
    assert numbered[23] == FETCH.suction_geom
