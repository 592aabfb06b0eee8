"""Learning by gradients: the one folder that needs torch, to train and to serve what numpy would be too slow for."""

from paragloss.errors import MissingExtraError

try:
    import torch  # noqa: F401
except ImportError as missing:
    raise MissingExtraError("training this model", "train") from missing
