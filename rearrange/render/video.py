"""H.264 videos, and GIFs of them, that appear under their name only once they are complete."""

import os
import subprocess
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomic_files import remove_unfinished, replacing


class VideoWriter:
    """Write frames to an mp4 file (H.264, yuv420p), as a context manager.

    Frames go to a temporary file beside `path`, which takes its name when the block ends well and
    is removed when an exception leaves the block. Odd sizes lose their last row or column.

    Args:
        path: The file to write; its folder is created.
        fps: Frames per second.
        quality: x264's constant rate factor: smaller is better and larger, 18 to 28 is usual.
    """

    def __init__(self, path: str | os.PathLike[str], fps: float = 30.0, quality: int = 23) -> None:
        self.path = Path(path)
        self.fps = fps
        self.quality = quality
        self.frame_count = 0
        self._shape: tuple[int, int] | None = None
        self._stream: Any = None
        self._file: AbstractContextManager[Path] = replacing(self.path)
        self._part = Path()

    def __enter__(self) -> "VideoWriter":
        remove_unfinished(self.path.parent, f"{self.path.name}.")
        self._file = replacing(self.path)
        self._part = self._file.__enter__()
        return self

    def write(self, frame: NDArray[np.uint8]) -> None:
        """Append one picture [H, W, 3], uint8; all pictures have the same size."""
        if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8:
            raise ValueError(f"a frame is [H, W, 3] uint8, got {frame.shape} {frame.dtype}")
        shape = (frame.shape[0] // 2 * 2, frame.shape[1] // 2 * 2)
        if self._shape is None:
            self._shape = shape
            self._open()
        elif shape != self._shape:
            raise ValueError(f"the first frame was {self._shape}, this one is {shape}")
        self._stream.send(np.ascontiguousarray(frame[: shape[0], : shape[1]]))
        self.frame_count += 1

    def _open(self) -> None:
        """Start ffmpeg for frames of the size of the first."""
        import imageio_ffmpeg  # late: most runs film nothing

        assert self._shape is not None
        self._stream = imageio_ffmpeg.write_frames(
            str(self._part),
            (self._shape[1], self._shape[0]),
            fps=self.fps,  # pyright: ignore[reportArgumentType]
            codec="libx264",
            pix_fmt_out="yuv420p",
            macro_block_size=2,
            output_params=["-crf", str(self.quality), "-preset", "medium", "-threads", "1",
                           "-movflags", "+faststart", "-f", "mp4"],
            ffmpeg_log_level="error",
        )  # fmt: skip
        self._stream.send(None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._stream is not None and kind is None:
            self._stream.close()
            self._check()
        elif self._stream is not None:
            with suppress(KeyboardInterrupt):  # kills ffmpeg, which would encode to the end
                self._stream.throw(KeyboardInterrupt())
        if self.frame_count == 0:
            self._part.unlink()
        self._file.__exit__(kind, error, trace)

    def _check(self) -> None:
        """Raise an OSError, and leave no film, where ffmpeg did not write all: a full disk, it was killed."""
        import imageio_ffmpeg

        try:
            found = imageio_ffmpeg.count_frames_and_secs(str(self._part))[0] or 0
        except (OSError, RuntimeError):
            found = 0
        if found < self.frame_count:
            error = OSError(f"{self.path}: ffmpeg wrote {found} of {self.frame_count} pictures")
            self._file.__exit__(OSError, error, None)
            raise error


def write_gif(
    video: str | os.PathLike[str],
    path: str | os.PathLike[str],
    seconds: float = 7.0,
    fps: float = 8.0,
    width: int = 720,
) -> None:
    """Write the beginning of a video as a GIF that repeats for ever, at the video's own speed.

    Args:
        video: What `VideoWriter` wrote.
        path: The file to write; its folder is created.
        seconds: How much of the video.
        fps: Pictures per second of the GIF.
        width: Of the GIF [pixels]; the height follows.

    Raises:
        RuntimeError: ffmpeg cannot read the video.
    """
    import imageio_ffmpeg  # late: most runs film nothing

    # One palette for all pictures, and no dither: what stands still then costs nothing.
    graph = (
        f"fps={fps},scale={width}:-1:flags=area,split[a][b];[a]palettegen[p];"
        "[b][p]paletteuse=dither=none:diff_mode=rectangle"
    )
    command = [
        imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", "-i", os.fspath(video),
        "-t", str(seconds), "-filter_complex", graph, "-loop", "0", "-f", "gif",
    ]  # fmt: skip
    with replacing(Path(path)) as part:
        done = subprocess.run([*command, os.fspath(part)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{video}: ffmpeg makes no GIF of it: {done.stderr.strip()}")
