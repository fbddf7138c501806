import subprocess
import sys

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from rearrange.render import VideoWriter, write_gif
from tests.helpers import ROOT


def frames(count: int, height: int = 50, width: int = 70):
    for n in range(count):
        frame = np.full((height, width, 3), 60, np.uint8)
        frame[10:20, n : n + 10] = (250, 40, 40)
        yield frame


def test_a_video_has_every_frame_at_its_size(tmp_path):
    path = tmp_path / "clips" / "run.mp4"
    with VideoWriter(path, fps=20) as writer:
        for frame in frames(15, 51, 71):
            writer.write(frame)
        assert not path.exists()
    assert imageio_ffmpeg.count_frames_and_secs(str(path))[0] == 15
    reader = imageio_ffmpeg.read_frames(str(path))
    facts = next(reader)
    assert facts["size"] == (70, 50)
    assert facts["codec"] == "h264"
    assert facts["pix_fmt"].startswith("yuv420p")
    assert facts["fps"] == 20
    first = np.frombuffer(next(reader), np.uint8).reshape(50, 70, 3)
    reader.close()
    assert abs(int(first[40, 40, 0]) - 60) < 12
    assert [entry.name for entry in path.parent.iterdir()] == ["run.mp4"]


def test_a_failure_leaves_no_file(tmp_path):
    path = tmp_path / "run.mp4"
    writer = VideoWriter(path)
    writer.__enter__()
    writer.write(next(frames(1)))
    writer.__exit__(RuntimeError, RuntimeError("stop"), None)
    with VideoWriter(path):
        pass  # no frames, no file
    assert list(tmp_path.iterdir()) == []


def test_a_film_that_is_not_whole_takes_no_name(tmp_path, monkeypatch):
    path = tmp_path / "run.mp4"
    path.write_text("the one before")
    monkeypatch.setattr(imageio_ffmpeg, "count_frames_and_secs", lambda path: (2, 0.1))
    writer = VideoWriter(path)
    writer.__enter__()
    for frame in frames(3):
        writer.write(frame)
    with pytest.raises(OSError, match=r"run.mp4: ffmpeg wrote 2 of 3 pictures"):
        writer.__exit__(None, None, None)
    assert path.read_text() == "the one before"
    assert [each.name for each in tmp_path.iterdir()] == ["run.mp4"]


def test_frames_of_another_size_or_kind_are_refused(tmp_path):
    with VideoWriter(tmp_path / "run.mp4") as writer:
        writer.write(next(frames(1)))
        with pytest.raises(ValueError, match="first frame"):
            writer.write(next(frames(1, 40)))
        with pytest.raises(ValueError, match="uint8"):
            writer.write(np.zeros((50, 70, 3)))


def test_what_a_killed_writer_left_goes_with_the_next_one(tmp_path):
    left, other = tmp_path / ".run.mp4.abc.tmp", tmp_path / ".walk.mp4.abc.tmp"
    left.touch()
    other.touch()
    with VideoWriter(tmp_path / "run.mp4") as writer:
        writer.write(next(frames(1)))
    assert {path.name for path in tmp_path.iterdir()} == {"run.mp4", other.name}


def test_a_gif_is_the_beginning_of_a_video(tmp_path):
    video, path = tmp_path / "run.mp4", tmp_path / "docs" / "run.gif"
    with VideoWriter(video, fps=20) as writer:
        for frame in frames(40, 50, 100):
            writer.write(frame)
    write_gif(video, path, seconds=1.0, fps=10, width=50)
    with Image.open(path) as gif:
        assert (gif.size, gif.n_frames) == ((50, 25), 10)
        assert gif.info["loop"] == 0
        assert gif.info["duration"] == 100
        picture = np.asarray(gif.convert("RGB"))
    assert np.abs(picture[20, 40].astype(int) - 60).max() < 12  # background
    assert [entry.name for entry in path.parent.iterdir()] == ["run.gif"]


def test_no_gif_is_made_of_what_is_no_video(tmp_path):
    video, path = tmp_path / "run.mp4", tmp_path / "docs" / "run.gif"
    video.write_text("nothing")
    with pytest.raises(RuntimeError, match="makes no GIF"):
        write_gif(video, path)
    assert list(path.parent.iterdir()) == []


def test_ffmpeg_is_not_imported_where_nothing_is_filmed():
    asked = "import sys, rearrange.render.video; print('imageio_ffmpeg' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
