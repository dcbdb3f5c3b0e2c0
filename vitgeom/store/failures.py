"""What went wrong below, told as a StoreError: the place, the cause in plain words, the way out. Secrets never appear."""

from __future__ import annotations

import errno
from urllib.parse import urlsplit

from vitgeom.errors import CorruptData, StoreError

RESUME = "Finished ranges stay valid; run the same command again to continue."

_LOCAL = {
    errno.EROFS: (
        "the file system is read-only",
        "Choose another root with VITGEOM_STORE or mount it writable.",
    ),
    errno.EACCES: ("permission denied", "Choose another root with VITGEOM_STORE or fix the permissions."),
    errno.EPERM: (
        "operation not permitted",
        "Choose another root with VITGEOM_STORE or fix the permissions.",
    ),
    errno.ENOSPC: ("no space left on the device", f"Free some space or choose another root. {RESUME}"),
    errno.EDQUOT: ("the disk quota is used up", f"Free some space or choose another root. {RESUME}"),
    errno.EFBIG: ("the file is larger than this process may write", f"Raise the limit (ulimit -f). {RESUME}"),
    errno.ENOTDIR: ("a file stands where a folder is needed", "Remove that file or choose another root."),
    errno.EEXIST: ("a file stands where a folder is needed", "Remove that file or choose another root."),
    errno.EISDIR: ("a folder stands where a file is needed", "Remove that folder or choose another root."),
    errno.ENAMETOOLONG: ("the name is too long for the file system", "Choose a root with a shorter path."),
    errno.EMFILE: ("too many open files", "Raise the limit (ulimit -n)."),
}

_CREDENTIAL_CODES = {
    "403",
    "401",
    "AccessDenied",
    "AllAccessDisabled",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidSecurity",
    "InvalidToken",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
    "TokenRefreshRequired",
}
_NO_CREDENTIALS = {
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "ProfileNotFound",
}
_UNREACHABLE = {
    "EndpointConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ConnectionClosedError",
    "ConnectionError",
    "HTTPClientError",
    "ProxyConnectionError",
    "ClientConnectionError",
    "ClientPayloadError",
    "TimeoutError",
    "FSTimeoutError",
}
_BUSY_CODES = {
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "RequestTimeout",
    "TooManyRequests",
    "ServiceUnavailable",
}
CREDENTIAL_VARIABLES = (
    "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN (if any), AWS_REGION and AWS_ENDPOINT_URL"
)


class MissingObject(StoreError, FileNotFoundError):
    """An object that was asked for by name does not exist."""


def local_failure(error: OSError, *, uri: str, action: str) -> StoreError:
    """Tell why an operation on the local disk failed.

    Args:
        error: What the operating system raised.
        uri: The path that was worked on.
        action: What was tried, as an infinitive without "to" ("write", "list").

    Returns:
        A CorruptData where a folder stands in the place of a file that was to be read: what was stored there is gone.
    """
    kind = CorruptData if error.errno == errno.EISDIR and action == "read" else StoreError
    cause, way_out = _LOCAL.get(
        error.errno or 0, (error.strerror or type(error).__name__, "Check the disk and the path.")
    )
    return kind(f"cannot {action} {uri}: {cause}. {way_out}")


def remote_failure(error: BaseException, *, uri: str, action: str, endpoint: str) -> StoreError:
    """Tell why an operation on an object store failed, without repeating the server's own words.

    A server's message may quote parts of the signed request, so only its error code is passed on.

    Args:
        error: What the client library raised.
        uri: The object or prefix that was worked on.
        action: What was tried, as an infinitive without "to".
        endpoint: The server's address as configured, or "" for the provider's own.
    """
    parts = urlsplit(uri)
    bucket = f"{parts.scheme}://{parts.netloc}"
    server = without_userinfo(endpoint) or "the provider's default endpoint"
    code = error_code(error)
    shown = f" ({code})" if code else ""
    if names(error) & _NO_CREDENTIALS:
        return StoreError(
            f"cannot {action} {uri}: no credentials for bucket {bucket} were found. Set {CREDENTIAL_VARIABLES}."
        )
    if is_credential_failure(error):
        return StoreError(
            f"cannot {action} {uri}: {server} refused the credentials for bucket {bucket}{shown}."
            f" Check {CREDENTIAL_VARIABLES}, and that they may read and write this bucket."
        )
    if code == "NoSuchBucket":
        return StoreError(
            f"cannot {action} {uri}: bucket {bucket} does not exist at {server}. Create it, or check the bucket name and"
            " AWS_ENDPOINT_URL."
        )
    if http_status(error) == 507:
        return StoreError(f"cannot {action} {uri}: {server} has no space left{shown}. {RESUME}")
    if is_busy(error):
        return StoreError(
            f"cannot {action} {uri}: {server} asks to slow down or fails inside{shown}, also after retries."
            f" Use fewer workers or try later. {RESUME}"
        )
    if names(error) & _UNREACHABLE:
        return StoreError(
            f"cannot {action} {uri}: {server} does not answer ({type(error).__name__}). Check AWS_ENDPOINT_URL, the network"
            f" and the server; VITGEOM_STORE_DEADLINE (seconds) sets how long one operation may take. {RESUME}"
        )
    return StoreError(
        f"cannot {action} {uri}: {type(error).__name__}{shown} from {server}. Check the server's log; if credentials are"
        f" temporary they may have expired. {RESUME}"
    )


def is_credential_failure(error: BaseException) -> bool:
    """Return True when a server refused who we are or what we may do: trying again cannot help."""
    return error_code(error) in _CREDENTIAL_CODES or isinstance(error, PermissionError)


def is_busy(error: BaseException) -> bool:
    """Return True for a server that asks to slow down or fails inside (5xx other than full)."""
    status = http_status(error)
    return error_code(error) in _BUSY_CODES or (status >= 500 and status != 507)


def is_transient(error: BaseException) -> bool:
    """Return True when the same request may succeed a moment later."""
    if is_credential_failure(error) or names(error) & _NO_CREDENTIALS:
        return False
    return is_busy(error) or bool(names(error) & _UNREACHABLE)


def error_code(error: BaseException) -> str:
    """Return the server's error code ("SlowDown", "403"), looked up along the chain of causes, or ""."""
    return str(_response(error).get("Error", {}).get("Code", ""))


def http_status(error: BaseException) -> int:
    """Return the HTTP status along the chain of causes, or 0."""
    return int(_response(error).get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def names(error: BaseException) -> set[str]:
    """Return the class names of an error and of its bases."""
    return {cls.__name__ for cls in type(error).__mro__}


def without_userinfo(url: str) -> str:
    """Return a URL without ``user:password@``."""
    if "@" not in url:
        return url
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _response(error: BaseException) -> dict:
    current: BaseException | None = error
    while current is not None:
        response = getattr(current, "response", None)
        if isinstance(response, dict):
            return response
        current = current.__cause__
    return {}
