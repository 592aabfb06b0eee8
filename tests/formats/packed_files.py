"""Packs files for tests of the formats that are archives."""

import io
import zipfile


def pack_zip(parts):
    """Return a zip file; a part called mimetype is stored as it is, as OpenDocument files and books want it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data, zipfile.ZIP_STORED if name == "mimetype" else None)
    return buffer.getvalue()
