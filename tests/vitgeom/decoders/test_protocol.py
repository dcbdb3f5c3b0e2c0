from __future__ import annotations

from vitgeom.decoders import BoundDecoder, Decoder, cls_decoder


def test_a_decoder_and_its_bound_form_keep_the_protocols(nano, picture):
    decoder = cls_decoder(nano, layer=2)
    assert isinstance(decoder, Decoder)
    bound = decoder.at(picture)
    assert isinstance(bound, BoundDecoder)
    assert (bound.name, bound.layer) == (decoder.name, decoder.layer) == ("cls", 2)
    assert tuple(bound.features.shape) == decoder.features_shape
