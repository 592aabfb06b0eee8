"""Recognise Chinese and Japanese pages with RapidOCR (optional, `paragloss[ocr]`), which reads poor scans better."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

#: Below this share of Chinese or Japanese characters a reading is not used: RapidOCR's models know few other scripts.
_MIN_CJK_SHARE = 0.3


class RecognizedText(NamedTuple):
    """The text of a page and the confidence of its reading, from 0 to 100."""

    text: str
    confidence: float


def is_rapidocr_installed() -> bool:
    """Say whether the package is installed, without loading it."""
    return importlib.util.find_spec("rapidocr") is not None


def recognize_cjk(data: bytes, page_number: int = 0) -> RecognizedText:
    """Recognise the Chinese or Japanese text of a picture, or of one page of a TIFF file.

    :param data: the bytes of the picture's file
    :param page_number: the page of a TIFF file, from 0
    :return: the text with its mean confidence, from 0 to 100, weighted by the length of lines; "" with confidence 0 if
        it is not Chinese or Japanese
    """
    result = _load_engine()(_decode_picture(data, page_number))
    lines: Sequence[str] = result.txts or ()  # None if nothing is recognised
    line_scores: Sequence[float] = result.scores or ()  # confidences from 0 to 1
    text = "\n".join(lines)
    if measure_cjk_share(text) < _MIN_CJK_SHARE:
        return RecognizedText("", 0.0)
    n_characters = sum(len(line) for line in lines)
    weighted_sum = sum(len(line) * score for line, score in zip(lines, line_scores, strict=True))
    return RecognizedText(text, 100 * weighted_sum / n_characters)


def _decode_picture(data: bytes, page_number: int) -> Any:
    """Return the pixels of a page of a picture, (height, width, 3), blue, green, red as RapidOCR expects them."""
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        image.seek(page_number)
        return np.asarray(image.convert("RGB"))[:, :, ::-1]


def measure_cjk_share(text: str) -> float:
    """Return the share of Chinese characters and kana among the characters that are not white space."""
    characters = "".join(text.split())
    n_cjk = sum("\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff" for character in characters)
    return n_cjk / max(1, len(characters))


@cache
def _load_engine() -> Any:
    """Load the models inside the package; one thread, because pages are read by several processes."""
    from rapidocr import RapidOCR

    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    return RapidOCR(params={"Global.log_level": "error", **threads})
