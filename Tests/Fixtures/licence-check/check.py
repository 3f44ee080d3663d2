#!/usr/bin/env python3
"""Verifies licence files with python3-cryptography: check.py TRUST_DIR < tokens; prints `ok` or `wrong` a line.

Written from RFC 7515, 7517 and 7518 and without a line of the product.
"""
import base64
import hashlib
import hmac
import json
import pathlib
import sys

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature


def decoded(text):
    """The bytes of base64url without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(text):
    """A number of a JWK."""
    return int.from_bytes(decoded(text), "big")


def public_key(jwk):
    """The key of a JWK."""
    if jwk["kty"] == "EC":
        return ec.EllipticCurvePublicNumbers(number(jwk["x"]), number(jwk["y"]), ec.SECP256R1()).public_key()
    if jwk["kty"] == "OKP":
        return ed25519.Ed25519PublicKey.from_public_bytes(decoded(jwk["x"]))
    return rsa.RSAPublicNumbers(number(jwk["e"]), number(jwk["n"])).public_key()


def verify(key, algorithm, signature, message):
    """Raises InvalidSignature unless the signature is right."""
    if algorithm == "ES256":
        if len(signature) != 64:
            raise InvalidSignature
        pair = (int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
        key.verify(encode_dss_signature(*pair), message, ec.ECDSA(hashes.SHA256()))
    elif algorithm == "EdDSA":
        key.verify(signature, message)
    elif algorithm == "RS256":
        key.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
    elif algorithm == "PS256":
        key.verify(signature, message, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())
    else:
        raise InvalidSignature


def judge(token, trust):
    """Whether the signature is right; certificates are judged elsewhere."""
    head, body, mac = token.split(".")
    header = json.loads(decoded(head))
    message = f"{head}.{body}".encode()
    if header["alg"] == "HS256":
        due = hmac.digest((trust / "hs.key").read_bytes(), message, hashlib.sha256)
        return hmac.compare_digest(due, decoded(mac))
    if "x5c" in header:
        key = x509.load_der_x509_certificate(base64.b64decode(header["x5c"][0], validate=True)).public_key()
    else:
        keys = json.loads((trust / "jwks.json").read_text())["keys"]
        (jwk,) = [jwk for jwk in keys if jwk["kid"] == header["kid"]]
        if jwk["alg"] != header["alg"]:
            return False
        key = public_key(jwk)
    try:
        verify(key, header["alg"], decoded(mac), message)
        return True
    except InvalidSignature:
        return False


for line in sys.stdin:
    print("ok" if judge(line.strip(), pathlib.Path(sys.argv[1])) else "wrong")
