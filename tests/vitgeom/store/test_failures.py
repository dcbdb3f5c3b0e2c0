from __future__ import annotations

import errno

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ReadTimeoutError

from vitgeom.errors import StoreError
from vitgeom.store.failures import is_transient, local_failure, remote_failure, without_userinfo


def _server_says(code: str, status: int, message: str = "") -> Exception:
    response = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "PutObject")


def _as_translated(error: Exception) -> Exception:
    """As the file system library hands it on: another class, the original as its cause."""
    outer = OSError(errno.EIO, "translated")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (_server_says("AccessDenied", 403), r"refused the credentials for bucket s3://b \(AccessDenied\)"),
        (
            _server_says("ExpiredToken", 400),
            r"refused the credentials for bucket s3://b \(ExpiredToken\).*AWS_SESSION_TOKEN",
        ),
        (PermissionError("Forbidden"), "refused the credentials for bucket s3://b"),
        (NoCredentialsError(), "no credentials for bucket s3://b were found. Set AWS_ACCESS_KEY_ID"),
        (_server_says("NoSuchBucket", 404), "bucket s3://b does not exist at http://host:1"),
        (
            _server_says("SlowDown", 503),
            "asks to slow down or fails inside .SlowDown., also after retries. Use fewer workers",
        ),
        (_server_says("InternalError", 500), "fails inside .InternalError."),
        (
            _server_says("InsufficientStorage", 507),
            "has no space left .InsufficientStorage.. Finished ranges stay valid",
        ),
        (
            EndpointConnectionError(endpoint_url="http://host:1"),
            "http://host:1 does not answer .EndpointConnectionError.. Check AWS_ENDPOINT_URL",
        ),
        (TimeoutError(), "does not answer .TimeoutError.*VITGEOM_STORE_DEADLINE"),
        (_server_says("400", 400, "Bad Request"), "credentials are temporary they may have expired"),
        (RuntimeError("strange"), "RuntimeError from http://host:1"),
    ],
)
def test_every_cause_has_its_words(error: Exception, words: str) -> None:
    for one in [error, _as_translated(error)] if isinstance(error, ClientError) else [error]:
        told = remote_failure(one, uri="s3://b/k", action="write", endpoint="http://user:sesame@host:1")
        assert str(told).startswith("cannot write s3://b/k: ")
        assert "sesame" not in str(told)
        with pytest.raises(StoreError, match=words):
            raise told


def test_the_words_of_the_server_are_not_repeated() -> None:
    error = _server_says("SignatureDoesNotMatch", 403, "StringToSign AKIAEXAMPLE abcdef")
    assert "AKIAEXAMPLE" not in str(remote_failure(error, uri="s3://b/k", action="read", endpoint=""))


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (_server_says("SlowDown", 503), True),
        (_server_says("InternalError", 500), True),
        (_server_says("InsufficientStorage", 507), False),
        (_server_says("AccessDenied", 403), False),
        (_server_says("NoSuchKey", 404), False),
        (NoCredentialsError(), False),
        (PermissionError(), False),
        (ReadTimeoutError(endpoint_url="http://host"), True),
        (EndpointConnectionError(endpoint_url="http://host"), True),
        (TimeoutError(), True),
        (FileNotFoundError(), False),
        (ValueError(), False),
    ],
)
def test_only_what_may_pass_is_tried_again(error: Exception, transient: bool) -> None:
    assert is_transient(error) is transient


def test_a_local_failure_without_a_known_number_still_says_what_it_was() -> None:
    told = local_failure(OSError(errno.EIO, "Input/output error"), uri="/x", action="list")
    assert str(told) == "cannot list /x: Input/output error. Check the disk and the path."
    assert "OSError" in str(local_failure(OSError(), uri="/x", action="list"))


@pytest.mark.parametrize(
    ("url", "shown"),
    [("http://a:b@host:1/x", "http://host:1/x"), ("http://host/x@y", "http://host/x@y"), ("", "")],
)
def test_user_and_password_are_cut_out_of_urls(url: str, shown: str) -> None:
    assert without_userinfo(url) == shown
