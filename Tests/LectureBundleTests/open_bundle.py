"""Reads a bundle by docs/bundle.md alone, with Python's own tar and python3-cryptography: verifies the signature and
every digest, decrypts the bundle's key with a device's private key, and opens the files of every lecture.

open_bundle.py key PEM              makes a device's key and prints its public JWK
open_bundle.py open FILE PEM DIR    writes KEY.ROLE for each file of each lecture
"""
import base64
import hashlib
import json
import os
import struct
import sys
import tarfile

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.concatkdf import ConcatKDFHash
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap


def unbase(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def base(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def thumbprint(jwk):
    required = {name: jwk[name] for name in sorted(("crv", "kty", "x", "y")) if name in jwk}
    return base(hashlib.sha256(json.dumps(required, separators=(",", ":")).encode()).digest())


def curve_key(jwk):
    numbers = [int.from_bytes(unbase(jwk[name]), "big") for name in ("x", "y")]
    return ec.EllipticCurvePublicNumbers(*numbers, ec.SECP256R1()).public_key()


def payload(token):
    """The payload of a token whose signature is right under the key that it names itself."""
    header, body, signature = token.split(".")
    claims = json.loads(unbase(body))
    signed, raw = f"{header}.{body}".encode(), unbase(signature)
    head = json.loads(unbase(header))
    assert head["typ"] == "lecturekit-bundle+jwt" and head["kid"] == thumbprint(claims["signer"])
    if head["alg"] == "ES256":
        parts = [int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")]
        curve_key(claims["signer"]).verify(encode_dss_signature(*parts), signed, ec.ECDSA(hashes.SHA256()))
    else:
        assert head["alg"] == "EdDSA"
        ed25519.Ed25519PublicKey.from_public_bytes(unbase(claims["signer"]["x"])).verify(raw, signed)
    return claims


def bundle_key(token, private):
    """RFC 7518 section 4.6 and RFC 7516."""
    header, wrapped, nonce, text, tag = token.split(".")
    head = json.loads(unbase(header))
    assert head["alg"] == "ECDH-ES+A256KW" and head["enc"] == "A256GCM"
    secret = private.exchange(ec.ECDH(), curve_key(head["epk"]))
    name = head["alg"].encode()
    info = struct.pack(">I", len(name)) + name + struct.pack(">II", 0, 0) + struct.pack(">I", 256)
    wrapping = ConcatKDFHash(hashes.SHA256(), 32, info).derive(secret)
    key = aes_key_unwrap(wrapping, unbase(wrapped))
    return AESGCM(key).decrypt(unbase(nonce), unbase(text) + unbase(tag), header.encode())


def opened(data, key, lecture):
    content = HKDF(hashes.SHA256(), 32, None, f"lecturekit/bundle/1:{lecture}".encode()).derive(key)
    assert data[0] == 40
    associated = f"lecturekit/sealed/1:{lecture}".encode()
    cipher = AESGCM(HKDF(hashes.SHA256(), 32, data[1:33], associated).derive(content))
    pieces = [data[40:1 << 20]] + [data[i:i + (1 << 20)] for i in range(1 << 20, len(data), 1 << 20)]
    last = len(pieces) - 1
    nonces = [data[33:40] + struct.pack(">IB", i, i == last) for i in range(len(pieces))]
    return b"".join(cipher.decrypt(nonce, piece, b"") for nonce, piece in zip(nonces, pieces))


def main():
    if sys.argv[1] == "key":
        private = ec.generate_private_key(ec.SECP256R1())
        with open(sys.argv[2], "wb") as file:
            file.write(private.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        numbers = private.public_key().public_numbers()
        jwk = {"crv": "P-256", "kty": "EC", "x": base(numbers.x.to_bytes(32, "big")), "y": base(numbers.y.to_bytes(32, "big"))}
        print(json.dumps({**jwk, "kid": thumbprint(jwk)}))
        return
    with open(sys.argv[3], "rb") as file:
        private = serialization.load_pem_private_key(file.read(), None)
    numbers = private.public_key().public_numbers()
    own = thumbprint({"crv": "P-256", "kty": "EC", "x": base(numbers.x.to_bytes(32, "big")), "y": base(numbers.y.to_bytes(32, "big"))})
    with tarfile.open(sys.argv[2]) as archive:
        files = {member.name.split("/", 1)[1]: archive.extractfile(member).read() for member in archive}
    manifest = payload(files.pop("manifest.jws").decode())
    catalogue = files.pop("catalogue.jsonl")
    assert len(catalogue) == manifest["catalogue"]["bytes"]
    assert hashlib.sha256(catalogue).hexdigest() == manifest["catalogue"]["sha256"]
    key = bundle_key(next(device["key"] for device in manifest["for"] if device["kid"] == own), private)
    os.makedirs(sys.argv[4])
    lines = [json.loads(line) for line in catalogue.splitlines()]
    assert len(lines) == manifest["lectures"]
    for number, lecture in enumerate(lines, 1):
        digests = files.pop(f"{number:06}/digests")
        assert hashlib.sha256(digests).hexdigest() == lecture["digests"]
        chunks = [digests[i:i + 32] for i in range(0, len(digests), 32)]
        for index, file in enumerate(lecture["files"]):
            data, part = b"", 0
            while (name := f"{number:06}/{index:02}.{part:03}") in files:
                data, part = data + files.pop(name), part + 1
            for start in range(0, len(data), 1 << 20):
                assert hashlib.sha256(data[start:start + (1 << 20)]).digest() == chunks.pop(0)
            text = opened(data, key, lecture["key"])
            assert len(text) == file["bytes"]
            if file["role"] == "media":
                assert hashlib.sha256(text).hexdigest() == lecture["sha256"]
            with open(f"{sys.argv[4]}/{lecture['key']}.{file['role']}", "wb") as target:
                target.write(text)
        assert not chunks
    assert not files


main()
