"""The decoder that a reference names, with or without a trained bottleneck in front of it."""

from __future__ import annotations

from tasks.stored_results import finished_results
from tasks.target_request import DecoderRef, TrainedBottleneck
from tasks.train_bottleneck import MODEL
from vitgeom.backbones import Backbone
from vitgeom.decoders import Decoder, load_decoder
from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck import BottleneckVAE, FromLatents, JoinedTaps, ThroughBottleneck
from vitgeom.metric.saving import unpacked_model
from vitgeom.store.uri import Root


def opened_decoder(ref: DecoderRef, backbone: Backbone, *, store: str) -> Decoder:
    """Return a decoder, as a function of tokens, or of the latents of the bottleneck that it is behind.

    Args:
        ref: Which one.
        backbone: Whose tokens it reads.
        store: URI of the root below which bottlenecks lie.

    Raises:
        UnknownName: No such decoder.
        InvalidInput: No such layer, no head for this backbone, or the bottleneck is another one, or for something else.
    """
    if ref.behind is None:
        return load_decoder(ref.name, backbone, layer=ref.layer)
    joined = JoinedTaps(load_decoder(ref.name, backbone, layer=backbone.spec.num_blocks))
    return FromLatents(ThroughBottleneck(joined, _bottleneck(ref.behind, Root(store))))


def prefix_of(ref: DecoderRef, backbone: Backbone) -> int:
    """Return how many tokens of a decoder's features are no patches; among latents all are alike.

    Args:
        ref: Which decoder.
        backbone: Whose tokens it reads.
    """
    return backbone.spec.layout.num_prefix if ref.behind is None else 0


def _bottleneck(trained: TrainedBottleneck, root: Root) -> BottleneckVAE:
    results = root.join(trained.path)
    record = finished_results(results, required=(MODEL,))
    if record is None or record["digest"] != trained.digest:
        found = "none that is whole" if record is None else str(record["digest"])[:12]
        raise InvalidInput(
            f"bottleneck at {results.uri} must be the one of digest {trained.digest[:12]}, got {found}. Train it again: the same command does."
        )
    place = f"{results.uri}/{MODEL}"
    vae = unpacked_model(results.read_bytes(MODEL), place=place)
    if not isinstance(vae, BottleneckVAE):
        raise InvalidInput(f"{place} must hold a BottleneckVAE, got a {type(vae).__name__}.")
    return vae
